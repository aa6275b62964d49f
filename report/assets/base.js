"use strict";
/* Elements, and numbers as text. */

/** Makes an element: properties are attributes, `style` an object of CSS properties, `on...` listeners. */
function h(tag, props, ...kids) {
  return furnish(document.createElement(tag), props, kids);
}

/** Makes an element of SVG. */
function s(tag, props, ...kids) {
  return furnish(document.createElementNS("http://www.w3.org/2000/svg", tag), props, kids);
}

function furnish(node, props, kids) {
  for (const key in props) {
    const value = props[key];
    if (value === undefined || value === null || value === false) continue;
    if (key === "style") for (const name in value) node.style.setProperty(name, value[name]);
    else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? "" : value);
  }
  for (const kid of kids.flat()) if (kid !== null && kid !== undefined && kid !== false) node.append(kid);
  return node;
}

/** A name that somebody chose: isolated, so that its direction changes nothing around it. */
function bdi(text, cls) {
  return h("bdi", { class: cls }, String(text));
}

/** Characters that turn the direction of text, made visible in code. */
const TURNS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

function visible(text) {
  return text.replace(TURNS, (c) => "\u27e8U+" + c.charCodeAt(0).toString(16).toUpperCase() + "\u27e9");
}

const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

/** Rounds to three digits that count. */
function digits(value) {
  const size = Math.abs(value);
  if (size >= 100) return value.toFixed(0);
  if (size >= 10) return value.toFixed(1);
  return value.toFixed(2);
}

/** Whole numbers with commas; made once, as that takes its time. */
const plain = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** 32900000 as `32.9 M`. */
function count(value) {
  if (!isNumber(value)) return "";
  const size = Math.abs(value);
  if (size < 1e4) return Number.isInteger(value) ? plain.format(value) : digits(value);
  const [unit, by] = size < 1e6 ? ["k", 1e3] : size < 1e9 ? ["M", 1e6] : size < 1e12 ? ["G", 1e9] : ["T", 1e12];
  return digits(value / by) + "\u2009" + unit;
}

function bytes(value) {
  if (!isNumber(value)) return "";
  const size = Math.abs(value);
  if (size < 1000) return value + "\u2009B";
  const [unit, by] = size < 1e6 ? ["kB", 1e3] : size < 1e9 ? ["MB", 1e6] : ["GB", 1e9];
  return digits(value / by) + "\u2009" + unit;
}

function millis(value) {
  if (!isNumber(value)) return "";
  if (value === 0) return "0";
  if (Math.abs(value) < 1) return digits(value * 1e3) + "\u2009\u00b5s";
  return value < 1e4 ? digits(value) + "\u2009ms" : digits(value / 1e3) + "\u2009s";
}

function percent(share) {
  if (!isNumber(share)) return "";
  const value = share * 100;
  return (value > 0 && value < 0.1 ? "<0.1" : value >= 99.95 ? "100" : value.toFixed(1)) + "\u2009%";
}

/** Steps of an axis: about `most` round numbers from 0 to `end`. */
function ticks(end, most) {
  if (!(end > 0)) return [0];
  const raw = end / most,
    power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= raw);
  const all = [];
  for (let value = 0; value <= end * 1.0001; value += step) all.push(value);
  return all;
}

/** The index of the last number of a sorted list that is at most `value`; -1 if there is none. */
function lastAtMost(sorted, value) {
  let low = 0,
    high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Makes a canvas as wide as its box, sharp on every screen; each change calls `draw(context, width, height)`. */
function chart(height, draw, label) {
  const canvas = h("canvas", { class: "chart", role: "img", "aria-label": label, style: { height: height + "px" } });
  let width = 0;
  let isSeen = false;
  let isStale = true;
  const redraw = () => {
    isStale = !isSeen;
    if (width === 0 || isStale) return;
    const scale = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    const context = canvas.getContext("2d");
    context.scale(scale, scale);
    draw(context, width, height);
  };
  new ResizeObserver(([entry]) => {
    width = Math.floor(entry.contentRect.width);
    redraw();
  }).observe(canvas);
  // What nobody sees is drawn when it comes into sight.
  new IntersectionObserver((entries) => {
    isSeen = entries.at(-1).isIntersecting;
    if (isSeen && isStale) redraw();
  }).observe(canvas);
  onScheme(redraw);
  return { canvas, redraw: soon(redraw) };
}

/** True while what was left for the next picture is done. */
let isBeforePicture = false;

/** Does a thing once before the next picture, however often it is asked for. What asks while such things are done has
    it at once, so that one picture shows all. */
function soon(call) {
  let isQueued = false;
  return () => {
    if (isQueued) return;
    if (isBeforePicture) return call();
    isQueued = true;
    requestAnimationFrame(() => {
      isQueued = false;
      isBeforePicture = true;
      try {
        call();
      } finally {
        isBeforePicture = false;
      }
    });
  };
}

/** Calls back when the colours of the system change between light and dark. */
function onScheme(call) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", call);
}

const colours = new Map();
onScheme(() => colours.clear());

/** The colour of a custom property, for canvases; asked of the style once, as that takes its time. */
function colour(name) {
  if (!colours.has(name)) {
    colours.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim() || "#888");
  }
  return colours.get(name);
}

const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
