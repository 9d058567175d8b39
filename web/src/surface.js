// What a chart is drawn on: the screen (canvas) or a file (SVG), with the same few calls.
// SPDX-License-Identifier: Apache-2.0

export class CanvasSurface {
  /** ratio: pixels of the canvas to a pixel of the page */
  constructor(canvas, width, height, ratio) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    this.g = canvas.getContext("2d");
    this.g.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.g.clearRect(0, 0, width, height);
  }

  rect(x, y, width, height, fill) {
    this.g.fillStyle = fill;
    this.g.fillRect(x, y, width, height);
  }

  clip(x, y, width, height) {
    this.g.save();
    this.g.beginPath();
    this.g.rect(x, y, width, height);
    this.g.clip();
  }

  unclip() {
    this.g.restore();
  }

  /** points: [x0, y0, x1, y1, ...] */
  line(points, { stroke, width = 1, dash = [] }) {
    const { g } = this;
    g.strokeStyle = stroke;
    g.lineWidth = width;
    g.lineJoin = "round";
    g.setLineDash(dash);
    g.beginPath();
    g.moveTo(points[0], points[1]);
    for (let i = 2; i < points.length; i += 2) g.lineTo(points[i], points[i + 1]);
    g.stroke();
  }

  dot(x, y, radius, fill) {
    this.g.fillStyle = fill;
    this.g.beginPath();
    this.g.arc(x, y, radius, 0, 2 * Math.PI);
    this.g.fill();
  }

  /** align: start, middle, end */
  text(x, y, text, { fill, align = "start", size = 11, isBold = false }) {
    const { g } = this;
    g.fillStyle = fill;
    g.font = `${isBold ? "600 " : ""}${size}px system-ui, "DejaVu Sans", sans-serif`;
    g.textAlign = align === "middle" ? "center" : align;
    g.textBaseline = "alphabetic";
    g.fillText(text, x, y);
  }
}

const escape = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
const short = (x) => Number(x.toFixed(2));

export class SvgSurface {
  constructor(width, height) {
    Object.assign(this, { width, height, parts: [], clips: 0 });
  }

  rect(x, y, width, height, fill) {
    this.parts.push(`<rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" fill="${fill}"/>`);
  }

  clip(x, y, width, height) {
    const id = `c${SvgSurface.count++}`;
    this.parts.push(`<clipPath id="${id}"><rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}"/></clipPath><g clip-path="url(#${id})">`);
  }

  unclip() {
    this.parts.push("</g>");
  }

  line(points, { stroke, width = 1, dash = [] }) {
    const list = [];
    for (let i = 0; i < points.length; i += 2) list.push(`${short(points[i])},${short(points[i + 1])}`);
    this.parts.push(`<polyline points="${list.join(" ")}" fill="none" stroke="${stroke}" stroke-width="${width}" stroke-linejoin="round"${dash.length ? ` stroke-dasharray="${dash.join(" ")}"` : ""}/>`);
  }

  dot(x, y, radius, fill) {
    this.parts.push(`<circle cx="${short(x)}" cy="${short(y)}" r="${radius}" fill="${fill}"/>`);
  }

  text(x, y, text, { fill, align = "start", size = 11, isBold = false }) {
    this.parts.push(`<text x="${short(x)}" y="${short(y)}" fill="${fill}" font-size="${size}"${align === "start" ? "" : ` text-anchor="${align}"`}${isBold ? ' font-weight="600"' : ""}>${escape(text)}</text>`);
  }

  toString() {
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${this.width} ${this.height}" width="${this.width}" height="${this.height}" font-family="system-ui, 'DejaVu Sans', sans-serif">\n${this.parts.join("\n")}\n</svg>\n`;
  }
}
SvgSurface.count = 0; // names of clips are unique in a page that holds several
