import type { Catalog, SpeechModel } from '@svc/catalog';
import type { Caller } from '@svc/contracts/ports';
import { type ChargeLine, chargeLine } from '@svc/contracts/messages';
import { Problem, invalidRequest } from '@svc/contracts/problems';
import { SpeechRequest, VOICE_DAYS, characterCount } from '@svc/api/audio';
import type { SpokenText } from '@svc/contracts/inference';
import { unknownFieldsOf } from '@svc/paid/json';
import { type ModelSale, sellModel } from '@svc/paid/paid';
import { VOICE_PREFIX } from './voice.store.js';

/** The plan for a speech request. */
export interface SpeechPlan {
  readonly sale: ModelSale<SpeechModel>;
  readonly text: SpokenText;
  /** Known before the call, so it is the quote, the hold and the charge. */
  readonly line: ChargeLine;
}

/** The voices that a refusal names. */
const NAMED_VOICES = 20;

/** A decoder that ignores case would confuse `Input` with the text that is paid for. */
const othersOf = unknownFieldsOf(SpeechRequest.shape);

/**
 * Plans a request. Refuses: MODEL_NOT_FOUND, MODEL_RETIRED, MODEL_OFFLINE, PRO_ONLY_MODEL, UNAUTHORIZED,
 * INVALID_REQUEST.
 */
export function planSpeech(request: SpeechRequest, caller: Caller, catalog: Catalog): SpeechPlan {
  const sale = sellModel(request.model, catalog.ofType('tts'), { caller, catalog });
  const { model } = sale;
  const { input } = request;
  const text = { input, ...spokenBy(model, request), ...optionsOf(request), others: othersOf(request) };
  return { sale, text, line: speechLine(model, input) };
}

/** The price of speaking a text. */
function speechLine({ id, inputNano }: SpeechModel, input: string): ChargeLine {
  const price = { sku: `${id}-tts-input-mchar`, unit: 'character', priceNanoPerMillion: inputNano } as const;
  return chargeLine(price, characterCount(input));
}

function spokenBy(
  model: SpeechModel,
  { voice, response_format: format }: SpeechRequest,
): Pick<SpokenText, 'voice' | 'format'> {
  const { id, formats, defaultFormat } = model;
  if (format && !formats.includes(format))
    throw refused(['response_format'], `${id} offers the formats ${formats.join(', ')}.`);
  return { voice: voiceOf(model, voice), format: format ?? defaultFormat };
}

function voiceOf(model: SpeechModel, voice: SpeechRequest['voice']): string {
  const { id, voices, voiceAliases, defaultVoice, supportsCustomVoiceId } = model;
  if (voice === null || voice === undefined) return defaultVoice;
  const name = typeof voice === 'string' ? voice : voice.id;
  if (voices.includes(name)) return name;
  if (Object.hasOwn(voiceAliases, name)) return voiceAliases[name] ?? defaultVoice;
  if (supportsCustomVoiceId || isCloned(model, name)) return name;
  const more = voices.length > NAMED_VOICES ? ', …' : '';
  const named = voices.slice(0, NAMED_VOICES).join(', ');
  const path = typeof voice === 'string' ? ['voice'] : ['voice', 'id'];
  throw refused(path, `${id} has no such voice. Its voices are ${named}${more}.`);
}

/** Whether a voice is one that an account has cloned for the model. */
export const isCloned = ({ voiceCloning }: SpeechModel, voice: string): boolean =>
  voiceCloning !== undefined && voice.startsWith(VOICE_PREFIX);

/** The refusal of a cloned voice that the account does not have. */
export function unknownVoice({ id }: SpeechModel, { voice }: SpeechRequest): Problem {
  const path = typeof voice === 'string' ? ['voice'] : ['voice', 'id'];
  return refused(
    path,
    `This account has no such voice of ${id}. Cloned voices are kept for ${VOICE_DAYS} days.`,
  );
}

function optionsOf(request: SpeechRequest): Omit<SpokenText, 'input' | 'voice' | 'format' | 'others'> {
  const { speed, language, prompt, instructions, temperature, top_p: topP, streaming } = request;
  if (prompt && instructions && prompt !== instructions)
    throw refused(['instructions'], '`instructions` is another name for `prompt`. Use one of them.');
  const spoken = prompt ?? instructions;
  return {
    isStreamed: streaming ?? request.stream_format === 'audio',
    ...(typeof speed === 'number' && { speed }),
    ...(typeof language === 'string' && { language }),
    ...(typeof spoken === 'string' && { instructions: spoken }),
    ...(typeof temperature === 'number' && { temperature }),
    ...(typeof topP === 'number' && { topP }),
  };
}

const refused = (path: string[], message: string): Problem =>
  invalidRequest([{ code: 'custom', path, message }]);
