import type { Transcript } from '@svc/contracts/inference';
import type { TranscriptEvent, TranscriptReply } from '@svc/api/audio';
import type { AudioRequest } from './transcription-plan.js';

type Format = Pick<AudioRequest, 'response_format' | 'timestamps' | 'timestamp_granularities' | 'language'>;

/** A transcript, the length that is charged, and whether it is a translation. */
export interface FinishedTranscript {
  readonly transcript: Transcript;
  readonly seconds: number;
  readonly task: 'transcribe' | 'translate';
}

type Segment = Transcript['segments'][number];

/** A transcript in the requested format: an object for JSON, or a text. */
export function inFormat(finished: FinishedTranscript, format: Format): TranscriptReply | string {
  const { transcript } = finished;
  switch (format.response_format) {
    case 'json':
      return plain(finished, format.timestamps === true);
    case 'verbose_json':
      return verbose(finished, format);
    case 'text':
      return transcript.text;
    case 'srt':
      return cues(finished, { comma: ',', text: srtText, isNumbered: true }).join('\n');
    case 'vtt':
      return ['WEBVTT\n', ...cues(finished, { comma: '.', text: vttText, isNumbered: false })].join('\n');
  }
}

/** A transcript as the events of a stream, all at once. */
export function inEvents(finished: FinishedTranscript): string {
  const { text, usage } = common(finished);
  const events: readonly TranscriptEvent[] = [
    { type: 'transcript.text.delta', delta: text },
    { type: 'transcript.text.done', text, usage },
  ];
  return [...events.map((event) => JSON.stringify(event)), '[DONE]']
    .map((data) => `data: ${data}\n\n`)
    .join('');
}

function plain(finished: FinishedTranscript, hasTimes: boolean): TranscriptReply {
  const { transcript } = finished;
  const segment = segmentsOf(finished).map(({ text, start, end }) => ({ text, start, end }));
  return {
    ...common(finished),
    ...(hasTimes && { timestamps: { word: transcript.words, segment } }),
  };
}

function verbose(
  finished: FinishedTranscript,
  { timestamp_granularities: times, language }: Format,
): TranscriptReply {
  const { transcript, task } = finished;
  const hasWords = times.includes('word');
  const hasSegments = times.includes('segment') || !hasWords;
  return {
    task,
    language: transcript.language ?? language ?? 'unknown',
    ...common(finished),
    ...(hasSegments && { segments: segmentsOf(finished).map(verboseSegment) }),
    ...(hasWords && { words: transcript.words }),
  };
}

function common({ transcript: { text }, seconds }: FinishedTranscript) {
  return { text, duration: seconds, usage: { type: 'duration' as const, seconds } };
}

/** Clients expect every number. */
const NOT_REPORTED = { temperature: 0, avg_logprob: 0, compression_ratio: 0, no_speech_prob: 0 };

function verboseSegment({ start, end, text, ...numbers }: Segment, id: number) {
  return { id, seek: 0, start, end, text, tokens: [], ...NOT_REPORTED, ...numbers };
}

/** The segments; of a text without times, one of the length of the audio. */
function segmentsOf({ transcript: { segments, text }, seconds }: FinishedTranscript): readonly Segment[] {
  if (segments.length > 0 || text.trim() === '') return segments;
  return [{ start: 0, end: seconds, text }];
}

interface CueStyle {
  readonly comma: ',' | '.';
  readonly text: (line: string) => string;
  readonly isNumbered: boolean;
}

/** The subtitles, each with the line end that separates it from the next. */
function cues(finished: FinishedTranscript, { comma, text, isNumbered }: CueStyle): string[] {
  const spoken = segmentsOf(finished).filter((segment) => segment.text.trim() !== '');
  return spoken.map((segment, index) => {
    const { start, end } = segment;
    const times = `${timeOf(start, comma)} --> ${timeOf(Math.max(start, end), comma)}`;
    // An empty line would end the subtitle.
    const line = text(segment.text.replaceAll(/\s+/g, ' ').trim());
    return `${isNumbered ? `${index + 1}\n` : ''}${times}\n${line}\n`;
  });
}

/** An arrow is only for times. */
const srtText = (line: string): string => line.replaceAll(/-{2,}>/g, '->');

const vttText = (line: string): string =>
  line.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

function timeOf(seconds: number, comma: CueStyle['comma']): string {
  const total = Math.round(seconds * 1_000);
  const [hours, minutes, whole] = [total / 3_600_000, (total / 60_000) % 60, (total / 1_000) % 60].map(
    (value) => String(Math.floor(value)).padStart(2, '0'),
  );
  return `${hours}:${minutes}:${whole}${comma}${String(total % 1_000).padStart(3, '0')}`;
}
