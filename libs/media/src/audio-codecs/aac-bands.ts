/** Bands of a spectrum: their width, and how many of that width follow each other. */
type Bands = readonly (readonly [width: number, count: number])[];

/** The widths of the bands of long and of short windows, from the lowest. */
export interface BandWidths {
  readonly long: readonly number[];
  readonly short: readonly number[];
}

const widthsOf = (bands: Bands): number[] =>
  bands.flatMap(([width, count]) => Array.from({ length: count }, () => width));

const LONG_96 = widthsOf([
  [4, 14],
  [8, 5],
  [12, 5],
  [16, 2],
  [24, 1],
  [28, 1],
  [36, 1],
  [44, 1],
  [64, 11],
]);
const LONG_64 = widthsOf([
  [4, 14],
  [8, 4],
  [12, 3],
  [16, 3],
  [20, 1],
  [24, 2],
  [28, 1],
  [36, 1],
  [40, 18],
]);
const LONG_48 = widthsOf([
  [4, 10],
  [8, 7],
  [12, 4],
  [16, 2],
  [20, 2],
  [24, 2],
  [28, 2],
  [32, 19],
  [96, 1],
]);
const LONG_32 = widthsOf([
  [4, 10],
  [8, 7],
  [12, 4],
  [16, 2],
  [20, 2],
  [24, 2],
  [28, 2],
  [32, 22],
]);
const LONG_24 = widthsOf([
  [4, 11],
  [8, 10],
  [12, 4],
  [16, 3],
  [20, 2],
  [24, 2],
  [28, 2],
  [32, 1],
  [36, 2],
  [40, 1],
  [44, 1],
  [48, 1],
  [52, 2],
  [64, 5],
]);
const LONG_16 = widthsOf([
  [8, 11],
  [12, 9],
  [16, 4],
  [20, 3],
  [24, 2],
  [28, 2],
  [32, 1],
  [36, 1],
  [40, 2],
  [44, 1],
  [48, 1],
  [52, 1],
  [56, 1],
  [60, 1],
  [64, 3],
]);
const LONG_8 = widthsOf([
  [12, 13],
  [16, 7],
  [20, 4],
  [24, 3],
  [28, 2],
  [32, 1],
  [36, 2],
  [40, 1],
  [44, 1],
  [48, 1],
  [52, 1],
  [56, 1],
  [60, 1],
  [64, 1],
  [80, 1],
]);

const SHORT_96 = widthsOf([
  [4, 6],
  [8, 3],
  [16, 1],
  [28, 1],
  [36, 1],
]);
const SHORT_48 = widthsOf([
  [4, 5],
  [8, 3],
  [12, 3],
  [16, 3],
]);
const SHORT_24 = widthsOf([
  [4, 7],
  [8, 3],
  [12, 2],
  [16, 2],
  [20, 1],
]);
const SHORT_16 = widthsOf([
  [4, 8],
  [8, 2],
  [12, 2],
  [16, 1],
  [20, 2],
]);
const SHORT_8 = widthsOf([
  [4, 7],
  [8, 4],
  [12, 1],
  [16, 1],
  [20, 2],
]);

/** By the index of the sample rate. Source: ISO/IEC 14496-3, tables 4.129 to 4.141. */
export const AAC_BANDS: readonly BandWidths[] = [
  { long: LONG_96, short: SHORT_96 },
  { long: LONG_96, short: SHORT_96 },
  { long: LONG_64, short: SHORT_96 },
  { long: LONG_48, short: SHORT_48 },
  { long: LONG_48, short: SHORT_48 },
  { long: LONG_32, short: SHORT_48 },
  { long: LONG_24, short: SHORT_24 },
  { long: LONG_24, short: SHORT_24 },
  { long: LONG_16, short: SHORT_16 },
  { long: LONG_16, short: SHORT_16 },
  { long: LONG_16, short: SHORT_16 },
  { long: LONG_8, short: SHORT_8 },
  { long: LONG_8, short: SHORT_8 },
];
