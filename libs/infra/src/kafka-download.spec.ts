import { expect, it } from 'vitest';
import { mirrorIn } from './kafka-download.js';

const mirror = (of: string, url: string): string =>
  `<settings><mirrors><mirror><id>a</id><mirrorOf> ${of} </mirrorOf><url>${url}</url></mirror></mirrors></settings>`;

it.each(['central', '*', 'external:*', 'spring,central'])('uses a mirror of %s', (of) => {
  expect(mirrorIn(mirror(of, 'https://mirror.example/maven2'))).toBe('https://mirror.example/maven2');
});

it.each([
  ['of another repository', mirror('spring', 'https://mirror.example')],
  ['of all but Maven Central', mirror('*,!central', 'https://mirror.example')],
  ['in a comment', `<!-- ${mirror('central', 'https://mirror.example')} -->`],
  ['without settings', ''],
])('uses no mirror %s', (_case, settings) => {
  expect(mirrorIn(settings)).toBeUndefined();
});
