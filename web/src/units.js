// Units that numbers are shown in. Data are SI; what a reader sees may be bar, degrees or millimetres, by choice.
// SPDX-License-Identifier: Apache-2.0

/** SI unit -> [[text, factor]]; the first is SI itself. */
const CHOICES = {
  m: [["m", 1], ["mm", 1e3], ["µm", 1e6]],
  "m/s": [["m/s", 1], ["mm/s", 1e3], ["km/h", 3.6]],
  rad: [["rad", 1], ["deg", 180 / Math.PI]],
  "rad/s": [["rad/s", 1], ["deg/s", 180 / Math.PI], ["1/min", 30 / Math.PI]],
  Pa: [["Pa", 1], ["bar", 1e-5], ["MPa", 1e-6], ["psi", 1 / 6894.757293168]],
  N: [["N", 1], ["kN", 1e-3]],
  "N m": [["N m", 1], ["kN m", 1e-3]],
  J: [["J", 1], ["kJ", 1e-3]],
  W: [["W", 1], ["kW", 1e-3]],
  "m^3/s": [["m^3/s", 1], ["L/min", 6e4]],
  "m^3": [["m^3", 1], ["L", 1e3], ["cm^3", 1e6]],
};
/** What a machine builder reads. */
const ENGINEERING = { m: "mm", rad: "deg", "rad/s": "deg/s", Pa: "bar", N: "kN", "m^3/s": "L/min", "m^3": "L" };

export class Units {
  constructor() {
    this.chosen = {}; // SI unit -> text
    this.listeners = [];
  }

  /** {text, factor} that a quantity in this SI unit is shown in. */
  of(unit) {
    const [text, factor] = (CHOICES[unit] ?? []).find(([text]) => text === this.chosen[unit]) ?? [unit, 1];
    return { text: text && text !== "1" ? text : "", factor };
  }

  choicesOf(unit) {
    return CHOICES[unit]?.map(([text]) => text) ?? [];
  }

  set(chosen) {
    this.chosen = Object.fromEntries(Object.entries(chosen).filter(([unit, text]) => this.choicesOf(unit).slice(1).includes(text)));
    this.listeners.forEach((listener) => listener());
  }

  choose(unit, text) {
    this.set({ ...this.chosen, [unit]: text });
  }

  toggleEngineering() {
    this.set(this.isSI ? ENGINEERING : {});
  }

  get isSI() {
    return Object.keys(this.chosen).length === 0;
  }
}
