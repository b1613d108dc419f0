// Formats values like Grafana, for the units that the dashboards use.

const TIMES = [
  [86_400, 'days'],
  [3_600, 'hours'],
  [60, 'mins'],
  [1, 's'],
  [0.001, 'ms'],
  [0.000_001, 'µs'],
];
const BYTES = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
const THOUSANDS = ['', 'K', 'Mil', 'Bil'];

/** Three significant digits, without trailing zeros. */
const short = (value) => (value === 0 ? '0' : String(Number(value.toPrecision(3))));

/** Divides by a base while there is a suffix for it. */
function scaled(value, base, suffixes) {
  let [rest, at] = [value, 0];
  for (; Math.abs(rest) >= base && at < suffixes.length - 1; at += 1) rest /= base;
  return `${short(rest)} ${suffixes[at]}`.trim();
}

function duration(value) {
  const [seconds, name] = TIMES.find(([from]) => Math.abs(value) >= from) ?? TIMES.at(-1);
  return value === 0 ? '0 s' : `${short(value / seconds)} ${name}`;
}

const FORMATS = {
  s: duration,
  bytes: (value) => scaled(value, 1_024, BYTES),
  percentunit: (value) => `${short(value * 100)}%`,
  currencyUSD: (value) => `$${scaled(value, 1_000, THOUSANDS)}`,
  reqps: (value) => `${scaled(value, 1_000, THOUSANDS)} req/s`,
  short: (value) => scaled(value, 1_000, THOUSANDS),
  bool_yes_no: (value) => (value === 0 ? 'No' : 'Yes'),
};

const SUFFIX = 'suffix:';

/** The number of parts that an axis is divided into, about. */
const TICKS = 4;

/** Formats values of a unit. */
export function formatOf(unit = 'short') {
  if (unit.startsWith(SUFFIX)) return (value) => `${FORMATS.short(value)}${unit.slice(SUFFIX.length)}`;
  const format = FORMATS[unit];
  if (!format) throw new Error(`no format for the unit ${unit}`);
  return format;
}

/** Round values that divide a range: of bytes, powers of two. */
export function ticks(least, most, unit) {
  const raw = (most - least) / TICKS || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step =
    unit === 'bytes'
      ? 2 ** Math.ceil(Math.log2(raw))
      : [1, 2, 2.5, 5, 10].map((each) => each * power).find((each) => each >= raw);
  const first = Math.ceil(least / step - 1e-9);
  return Array.from({ length: Math.floor(most / step + 1e-9) - first + 1 }, (_, at) =>
    Number(((first + at) * step).toPrecision(12)),
  );
}

export const escaped = (text) =>
  String(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
