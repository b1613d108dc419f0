import { setImmediate as turn } from 'node:timers/promises';
import { cutBefore } from '../json/written-json.js';

/** Tags of tool calls and reasoning. They may carry attributes. */
const TAGS = [
  'think(?:ing)?',
  'thought',
  'reasoning',
  'tools?',
  'tool_?(?:call|response|result|use|code|output|sep)s?',
  'available_tools',
  'arg_(?:key|value)',
  'function(?:_?(?:call|result|response|output))?s?',
  '(?:start|end)_function_\\w{1,32}',
  'invoke',
  'parameter',
  'system-reminder',
].join('|');

/**
 * Tokens of chat templates that never carry attributes. `<user id="7">` and `<Image src={…} />` are ordinary
 * markup and do not change.
 */
const EXACT_TAGS = [
  's',
  'system',
  'user',
  'assistant',
  'developer',
  'role',
  'escape',
  '(?:bos|eos|pad|unk|sep|cls|mask)(?:_token)?',
  'sop|eop|eot|eod|eoh|eoa|eom|bom',
  'im_(?:start|end)',
  '(?:start|end|begin|beginning)_of_\\w{1,32}',
  '\\w{1,32}_soft_token',
  '(?:mask:|unused|reserved_|special_|extra_|extra_id_)\\d{1,6}',
  'fim_\\w{1,32}|jupyter_\\w{1,32}|file_sep|repo_?name|gh_stars',
  'longcat_\\w{1,32}',
].join('|');

/** Prefixes of vendors whose tags are all control tokens: `<seed:eos>`, `<minimax:tool_call>`. */
const VENDORS = 'minimax|seed|antml';

const BRACKETED = [
  'inst',
  'think',
  'system_prompt',
  'available_tools',
  'tool_(?:calls|results|content)',
  'model_settings',
  'args',
  'call_id',
  'prefix|middle|suffix',
  'img(?:_break|_end)?',
  '(?:begin_)?audio|transcribe',
  '[gs]?mask',
  'bos|eos|eot|pad|unk|cls|sep',
  '(?:start|end)_header_id',
  'multimodal',
  'ref',
].join('|');

/**
 * Each alternative matches one punctuation character and looks a bounded distance ahead, so a search takes
 * linear time. Case is ignored: exact tokens are case-sensitive, but models recognise their variants.
 */
const MARKS = new RegExp(
  [
    // <|im_start|>, <|turn>, <｜User｜>, <｜DSML｜invoke …>, and <turn|>
    '<(?=/?\\|[^\\s<>|]{1,64}[|>]|/?[\\w:.-]{1,64}\\|>)',
    '\\|(?=DSML\\|)',
    '<(?=<?/?SYS>)',
    `<(?=/?(?:[\\w.-]{1,32}:)?(?:${TAGS})(?:[\\s/>=|:]|$))`,
    `<(?=/?(?:${VENDORS}):\\w)`,
    `<(?=/?(?:${EXACT_TAGS})/?>)`,
    // <[begin▁of▁sentence]>, [|system|]
    '<(?=\\[[^\\s<>\\[\\]]{1,64}\\]>)',
    '\\[(?=\\|[^\\s|\\[\\]]{1,64}\\|\\])',
    `\\[(?=/?(?:${BRACKETED})\\])`,
    // MiniMax: ]~!b[, ]~b], [e~[, ]!p~[, ]<]image[>[
    '\\](?=[~!]{1,2}[a-z]{1,16}~?[\\[\\]])',
    '\\[(?=[a-z]{1,16}~\\[|>\\[)',
    '\\](?=<\\])',
    '◁(?=/?think)',
    // The lines of the fence
    '\\[(?=(?:end\\s{1,4}of\\s{1,4})?untrusted\\s{1,4}content\\b)',
  ].join('|'),
  'gi',
);

/** Characters that a tokenizer may drop. */
const DROPPED = '\\p{Default_Ignorable_Code_Point}\\p{Cf}\\p{Cs}\\0-\\x08\\v\\f\\x0E-\\x1F\\x7F-\\x9F';

/** Letters and punctuation that a tokenizer may read as ASCII: compatibility forms. */
const FOLDED =
  '\\xAA\\xB2\\xB3\\xB9\\xBA\\u0132\\u0133\\u017F\\u01C4-\\u01F3\\u02B0-\\u02E3\\u1D2C-\\u1DBF\\u2000-\\u218F' +
  '\\u2460-\\u24FF\\u2C7C\\u2C7D\\u3250-\\u33FF\\uA7F1-\\uA7F4\\uFB00-\\uFB06\\uFE10-\\uFE6F\\uFF01-\\uFF5E' +
  '\\u{1CCD6}-\\u{1CCF9}\\u{1D400}-\\u{1D7FF}\\u{1F100}-\\u{1F1FF}\\u{1FBF0}-\\u{1FBF9}';

const DISGUISED = new RegExp(`[${DROPPED}]+|[${FOLDED}]`, 'gu');
const IS_DROPPED = new RegExp(`^[${DROPPED}]`, 'u');

/** Characters processed in one turn of the event loop. */
const SLICE = 32_768;

/** Longer than any mark. */
const MARK_CHARACTERS = 160;

/**
 * Breaks everything in an untrusted text that a model or its chat template could take for structure: control
 * tokens of the current model families, tags of tool calls and reasoning, citation marks and the lines of the
 * fence, even if they are written with invisible characters or compatibility forms. It only inserts a space
 * after the first character of each, and removes nothing, so that no removal can join two halves to a token.
 */
export function neutralised(text: string): string {
  const steps = neutralising(text);
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}

/** Like `neutralised`, for long texts: yields to the event loop between slices. */
export async function neutralisedInTurns(text: string): Promise<string> {
  const steps = neutralising(text);
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) await turn();
  return step.value;
}

function* neutralising(text: string): Generator<undefined, string> {
  const slices: string[] = [];
  for (let at = 0, end = 0; at < text.length; at = end) {
    end = cutBefore(text, at + SLICE);
    slices.push(text.slice(at, end).replaceAll(DISGUISED, undisguisedPiece));
    if (end < text.length) yield;
  }
  // The text as read by a tokenizer that drops invisible characters and folds compatibility forms (NFKC).
  const plain = slices.join('');
  const breaks = plain === text ? markBreaks(plain) : disguisedBreaks(text, plain);
  const pieces: string[] = [];
  let start = 0;
  for (const end of breaks) {
    if (end === undefined) {
      yield;
      continue;
    }
    pieces.push(text.slice(start, end));
    start = end;
  }
  return [...pieces, text.slice(start)].join(' ');
}

/** Offsets at which to insert a space; `undefined` between slices. */
function* markBreaks(text: string): Generator<number | undefined> {
  for (let at = 0; at < text.length; at += SLICE) {
    if (at > 0) yield;
    for (const { index } of text.slice(at, at + SLICE + MARK_CHARACTERS).matchAll(MARKS))
      if (index < SLICE) yield at + index + 1;
  }
}

/** The offsets in `text` of the marks of `plain`, its undisguised form. */
function* disguisedBreaks(text: string, plain: string): Generator<number | undefined> {
  const disguises = text.matchAll(DISGUISED);
  let next = disguises.next().value;
  // The same position in both texts.
  let [at, plainAt] = [0, 0];
  for (const plainEnd of markBreaks(plain)) {
    if (plainEnd === undefined) yield;
    else {
      while (next && plainAt + (next.index - at) < plainEnd) {
        plainAt += next.index - at + undisguisedPiece(next[0]).length;
        at = next.index + next[0].length;
        next = disguises.next().value;
      }
      // If the first character of the mark is itself disguised, the position is already behind it.
      yield Math.max(at, at + plainEnd - plainAt);
    }
  }
}

/** Undisguised forms by character. Its size is bounded by that of FOLDED, a few thousand. */
const KNOWN_FORMS = new Map<string, string>();

function undisguisedPiece(piece: string): string {
  if (IS_DROPPED.test(piece)) return '';
  const known = KNOWN_FORMS.get(piece);
  if (known !== undefined) return known;
  const plain = piece.normalize('NFKC');
  KNOWN_FORMS.set(piece, plain);
  return plain;
}
