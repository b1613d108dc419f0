import type { Transcript } from '@svc/contracts/inference';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inFormat } from './transcript-formats.js';

const TRANSCRIPT: Transcript = {
  text: 'One & two. Three.',
  language: 'english',
  segments: [
    { start: 0, end: 2.5, text: ' One & two.', avg_logprob: -0.25 },
    { start: 3_661.001, end: 3_662, text: 'Three\n\n---> four <b>' },
    { start: 3_662, end: 3_663, text: ' ' },
  ],
  words: [{ word: 'One', start: 0, end: 0.5 }],
};

type Format = Partial<Parameters<typeof inFormat>[1]>;

const written = (format: Format, transcript = TRANSCRIPT) =>
  inFormat(
    { transcript, seconds: 3_663, task: 'transcribe' },
    { response_format: 'json', timestamp_granularities: ['segment'], ...format },
  );

const USAGE = { type: 'duration', seconds: 3_663 };

describe('a transcript', () => {
  it('is JSON with the charged length', () => {
    expect(written({})).toEqual({ text: TRANSCRIPT.text, duration: 3_663, usage: USAGE });
  });

  it('is JSON with times on request', () => {
    expect(written({ timestamps: true })).toMatchObject({
      timestamps: { word: TRANSCRIPT.words, segment: [{ text: ' One & two.', start: 0, end: 2.5 }, {}, {}] },
    });
  });

  it('is only the text', () => {
    expect(written({ response_format: 'text' })).toBe(TRANSCRIPT.text);
  });

  it('is SRT, in which no text looks like a time or ends a subtitle', () => {
    expect(written({ response_format: 'srt' })).toBe(
      '1\n00:00:00,000 --> 00:00:02,500\nOne & two.\n\n2\n01:01:01,001 --> 01:01:02,000\nThree -> four <b>\n',
    );
  });

  it('is WebVTT, in which texts are escaped', () => {
    expect(written({ response_format: 'vtt' })).toBe(
      'WEBVTT\n\n00:00:00.000 --> 00:00:02.500\nOne &amp; two.\n\n01:01:01.001 --> 01:01:02.000\nThree ---&gt; four &lt;b&gt;\n',
    );
  });

  it('is verbose JSON with all numbers of a segment', () => {
    const reply = written({ response_format: 'verbose_json' });
    expect(reply).toMatchObject({
      task: 'transcribe',
      language: 'english',
      duration: 3_663,
      usage: USAGE,
      segments: [
        {
          id: 0,
          seek: 0,
          start: 0,
          end: 2.5,
          text: ' One & two.',
          tokens: [],
          temperature: 0,
          avg_logprob: -0.25,
          compression_ratio: 0,
          no_speech_prob: 0,
        },
        { id: 1 },
        { id: 2 },
      ],
    });
    expect(reply).not.toHaveProperty('words');
  });

  it('is verbose JSON with the requested times', () => {
    const words = written({ response_format: 'verbose_json', timestamp_granularities: ['word'] });
    expect(words).toMatchObject({ words: TRANSCRIPT.words });
    expect(words).not.toHaveProperty('segments');
    const both = written({ response_format: 'verbose_json', timestamp_granularities: ['word', 'segment'] });
    expect(both).toMatchObject({ words: TRANSCRIPT.words, segments: [{}, {}, {}] });
  });

  it('without times is one segment of the whole length', () => {
    const plain = { text: 'Hello.', segments: [], words: [] };
    expect(written({ response_format: 'srt' }, plain)).toBe('1\n00:00:00,000 --> 01:01:03,000\nHello.\n');
    expect(written({ response_format: 'verbose_json', language: 'en' }, plain)).toMatchObject({
      language: 'en',
      segments: [{ start: 0, end: 3_663, text: 'Hello.' }],
    });
  });

  it('of silence is empty in every format', () => {
    const silence = { text: '', segments: [], words: [] };
    expect(written({ response_format: 'text' }, silence)).toBe('');
    expect(written({ response_format: 'srt' }, silence)).toBe('');
    expect(written({ response_format: 'vtt' }, silence)).toBe('WEBVTT\n');
    expect(written({ response_format: 'verbose_json' }, silence)).toMatchObject({ text: '', segments: [] });
  });

  it('has one time line for each spoken segment, whatever it says', () => {
    const segment = fc.record({
      start: fc.double({ min: 0, max: 1e6, noNaN: true }),
      end: fc.double({ min: 0, max: 1e6, noNaN: true }),
      text: fc.string({ unit: fc.constantFrom('a', '\n', '\r', '-', '>', '<', '&', ' ', '1') }),
    });
    fc.assert(
      fc.property(fc.array(segment), fc.constantFrom('srt' as const, 'vtt' as const), (segments, format) => {
        const text = written({ response_format: format }, { text: 'x y', segments, words: [] }) as string;
        const spoken = segments.filter((each) => each.text.trim() !== '').length;
        const times = /^\d{2,}:\d{2}:\d{2}[,.]\d{3} --> \d{2,}:\d{2}:\d{2}[,.]\d{3}$/gm;
        const count = segments.length === 0 ? 1 : spoken;
        expect(text.match(times)?.length ?? 0).toBe(count);
        expect(text.split('-->').length - 1).toBe(count);
      }),
    );
  });
});
