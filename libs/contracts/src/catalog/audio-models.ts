import { z } from 'zod';

/** The formats of audio files that are transcribed, by what they contain. */
export const AUDIO_FORMATS = ['wav', 'mp3', 'aac', 'flac', 'ogg', 'mp4', 'webm'] as const;
export type AudioFileFormat = (typeof AUDIO_FORMATS)[number];

export const AUDIO_MEDIA_TYPES: Readonly<Record<AudioFileFormat, string>> = {
  wav: 'audio/wav',
  mp3: 'audio/mpeg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  ogg: 'audio/ogg',
  mp4: 'audio/mp4',
  webm: 'audio/webm',
};

/** The formats of speech. PCM has 16 bits a sample, signed and little-endian, and one channel. */
export const SPEECH_FORMATS = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'] as const;
export type SpeechFormat = (typeof SPEECH_FORMATS)[number];

/** Source: the public interface. */
export const SPEECH_MEDIA_TYPES: Readonly<Record<SpeechFormat, string>> = {
  mp3: 'audio/mpeg',
  opus: 'audio/opus',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
};

/** The longest name of a voice. Source: the public interface. */
export const VOICE_CHARACTERS = 512;

const VoiceName = z.string().min(1).max(VOICE_CHARACTERS);

/**
 * For models whose servers speak as a sample does that comes with each request. The sample is stored by the
 * service, so any server of the model can be called.
 */
const VoiceCloning = z
  .strictObject({
    /** The formats of samples that its servers read. */
    formats: z.array(z.enum(AUDIO_FORMATS)).min(1).default(['wav', 'mp3', 'flac']),
    minSeconds: z.number().positive().max(60).default(3),
    maxSeconds: z.number().positive().max(60).default(30),
  })
  .refine(({ minSeconds, maxSeconds }) => minSeconds <= maxSeconds, {
    path: ['maxSeconds'],
    error: 'must be at least minSeconds',
  });

/** What a model that speaks texts has in addition to the members of every model. */
export const speechMembers = {
  type: z.literal('tts'),
  voices: z.array(VoiceName).min(1),
  defaultVoice: VoiceName,
  /** Voices by the names that other clients use, such as `{ alloy: af_alloy }`. */
  voiceAliases: z.record(VoiceName, VoiceName).default({}),
  /** Whether requests may name further voices, which only the backend knows. */
  supportsCustomVoiceId: z.boolean().default(false),
  /** Without it, no voices are cloned. */
  voiceCloning: VoiceCloning.optional(),
  formats: z.array(z.enum(SPEECH_FORMATS)).min(1),
  defaultFormat: z.enum(SPEECH_FORMATS),
  /** USD per million characters of a text. */
  pricing: z.strictObject({ input: z.number().nonnegative().max(1_000_000) }),
};

/** The kinds of backends whose requests for speech have a sample. */
const SAMPLE_KINDS: ReadonlySet<string> = new Set(['openai', 'simulator']);

type SpeechMembers = z.infer<z.ZodObject<typeof speechMembers>> & {
  readonly backends: readonly { readonly kind: string }[];
};

/** Checks that what the other members name is offered. */
export function checkSpeechMembers(
  { voices, defaultVoice, voiceAliases, voiceCloning, formats, defaultFormat, backends }: SpeechMembers,
  context: z.RefinementCtx,
): void {
  const refuse = (path: string[], message: string): void =>
    context.addIssue({ code: 'custom', path, message });
  if (!voices.includes(defaultVoice)) refuse(['defaultVoice'], 'must be one of voices');
  if (!formats.includes(defaultFormat)) refuse(['defaultFormat'], 'must be one of formats');
  const other = backends.find(({ kind }) => !SAMPLE_KINDS.has(kind));
  if (voiceCloning && other) refuse(['voiceCloning'], `backends of the kind ${other.kind} take no samples`);
  for (const [alias, voice] of Object.entries(voiceAliases))
    if (!voices.includes(voice)) refuse(['voiceAliases', alias], 'must be one of voices');
}

/** What a model that transcribes audio has in addition to the members of every model. */
export const transcriptionMembers = {
  type: z.literal('asr'),
  /** The longest audio of a request. */
  maxSeconds: z.number().positive().max(1_000_000).default(14_400),
  /** USD per second of audio. */
  pricing: z.strictObject({ perAudioSecond: z.number().nonnegative().max(1_000) }),
};
