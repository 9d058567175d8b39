// Files that the browser hands to the reader.
// SPDX-License-Identifier: Apache-2.0
import { el } from "./dom.js";

export function saveBlob(name, blob) {
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link); // Firefox wants it in the page
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

export function saveText(name, text, type) {
  saveBlob(name, new Blob([text], { type: `${type};charset=utf-8` }));
}

export function saveCanvas(name, canvas) {
  canvas.toBlob((blob) => saveBlob(name, blob), "image/png");
}

const VIDEO_TYPES = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm"];

/** Whether this browser can record a canvas. */
export function canRecord() {
  return typeof MediaRecorder !== "undefined" && "captureStream" in HTMLCanvasElement.prototype && VIDEO_TYPES.some((type) => MediaRecorder.isTypeSupported(type));
}

/** Record a canvas until `stop` of the result is called; a promise of the video. */
export function startRecording(canvas, fps = 30) {
  const type = VIDEO_TYPES.find((it) => MediaRecorder.isTypeSupported(it));
  const recorder = new MediaRecorder(canvas.captureStream(fps), { mimeType: type, videoBitsPerSecond: 8e6 });
  const parts = [];
  recorder.ondataavailable = (event) => event.data.size && parts.push(event.data);
  const video = new Promise((resolve) => (recorder.onstop = () => resolve(new Blob(parts, { type: "video/webm" }))));
  recorder.start(200);
  return { video, stop: () => recorder.state !== "inactive" && recorder.stop() };
}
