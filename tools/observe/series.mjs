// Series for the tests of alerts, in promtool's notation: `value+step x times`, one value per minute or step.
export const counter = (name, labels = '') => `${name}{${labels}}`;
export const flat = (series, value, minutes = 160) => [series, `${value}x${minutes}`];
/** A counter that rises by this amount per minute. */
export const rising = (series, step, minutes = 160) => [series, `0+${step}x${minutes}`];
/** A counter that is constant and then rises once. */
export const risen = (series, by = 1) => [series, `0x60 ${by}x60`];
/** A counter that rises once, at this minute. */
export const risenAt = (minute, series, by) => [series, `0x${minute - 1} ${by}x${160 - minute}`];
