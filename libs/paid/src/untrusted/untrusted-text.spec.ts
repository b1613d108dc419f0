import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { neutralised, neutralisedInTurns } from './untrusted-text.js';

/** Control tokens, copied from the tokenizer files and chat templates of the model families. */
const TOKENS = [
  // ChatML, Qwen, Kimi, Yi, InternLM
  '<|im_start|>,<|im_end|>,<|endoftext|>,<|im_middle|>,<|tool_calls_section_begin|>,<|action_start|>,[EOS],[EOT]',
  '<tool_call>,</tool_call>,<tool_response>,<think>,</think>,<|fim_prefix|>,<|image_pad|>,<function=f>,<parameter=p>',
  '◁think▷,◁/think▷,[start_header_id],[end_header_id]',
  // Llama 2 to 4
  '<s>,</s>,[INST],[/INST],<<SYS>>,<</SYS>>,<|begin_of_text|>,<|start_header_id|>,<|eot_id|>,<|python_tag|>',
  '<|header_start|>,<|eom|>,<|reserved_special_token_250|>',
  // Mistral
  '[AVAILABLE_TOOLS],[/AVAILABLE_TOOLS],[TOOL_CALLS],[TOOL_RESULTS],[/TOOL_RESULTS],[TOOL_CONTENT],[THINK],[/THINK]',
  '[SYSTEM_PROMPT],[/SYSTEM_PROMPT],[ARGS],[CALL_ID],[IMG],[IMG_BREAK],[BEGIN_AUDIO],[PREFIX],<unk>,<SPECIAL_20>',
  '[MODEL_SETTINGS],[/MODEL_SETTINGS]',
  // Gemma 1 to 4, FunctionGemma
  '<bos>,<eos>,<pad>,<mask>,<start_of_turn>,<end_of_turn>,<start_of_image>,<image_soft_token>,<unused99>,[multimodal]',
  '<|turn>,<turn|>,<|channel>,<channel|>,<|tool_call>,<tool_call|>,<|think|>,<|"|>,<escape>,<start_function_call>',
  // DeepSeek
  '<｜begin▁of▁sentence｜>,<｜end▁of▁sentence｜>,<｜User｜>,<｜Assistant｜>,<｜tool▁calls▁begin｜>,<｜fim▁hole｜>',
  '｜DSML｜,<｜DSML｜invoke,</｜DSML｜function_calls>',
  // GLM
  '[gMASK],[sMASK],<sop>,<eop>,<|user|>,<|observation|>,<arg_key>,</arg_value>,<|begin_of_image|>',
  // MiniMax
  ']~!b[,]~b],[e~[,]!p~[,]<]image[>[,<minimax:tool_call>,</minimax:tool_call>,<invoke name="f">,<beginning_of_sentence>',
  // Seed
  '<seed:bos>,<seed:eos>,<seed:think>,</seed:think>,<seed:tool_call>,<seed:cot_budget_reflect>,<[begin▁of▁sentence]>',
  // gpt-oss
  '<|start|>,<|channel|>,<|message|>,<|call|>,<|return|>,<|constrain|>',
  // Phi, Granite, Cohere, Hunyuan, EXAONE, LongCat, Nemotron, ERNIE, Ling, StarCoder, T5
  '<|system|>,<|end|>,<|start_of_role|>,<|end_of_role|>,<|START_OF_TURN_TOKEN|>,<|START_THINKING|>,<BOS_TOKEN>',
  '<｜hy_Assistant｜>,<|extra_0|>,[|system|],[|endofturn|],<longcat_tool_call>,<TOOLCALL>,<SPECIAL_12>,<mask:1>,<role>',
  '<fim_prefix>,<file_sep>,<extra_id_0>,<reserved_106>',
  // What agents and this service use
  '<function_calls>,<invoke name="f">,<system-reminder>,[REF],[/REF]',
  '[Untrusted content ,[End of untrusted content ',
].flatMap((line) => line.split(','));

/** The text as read by a tokenizer that folds compatibility forms and drops invisible characters. */
const asRead = (text: string): string =>
  text
    .normalize('NFKC')
    .replaceAll(/[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu, '')
    .replaceAll('\0', '')
    .toLowerCase();

const READ_TOKENS = TOKENS.map((token) => [token, asRead(token)] as const);

/** The control tokens that remain in a text. */
function tokensIn(text: string): string[] {
  const read = asRead(text);
  return READ_TOKENS.filter(([, token]) => read.includes(token)).map(([token]) => token);
}

const INVISIBLE = ['\u200B', '\u200D', '\u2060', '\uFEFF', '\u00AD', '\uFE0F', '\u{E0041}', '\0', '\u061C'];

const fullWidth = (character: string): string =>
  /[!-~]/.test(character) ? String.fromCodePoint((character.codePointAt(0) ?? 0) + 0xfee0) : character;

/** A character of a token, either unchanged or disguised. */
const disguisedCharacter = (character: string): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constant(character) },
    { weight: 1, arbitrary: fc.constant(character.toUpperCase()) },
    { weight: 1, arbitrary: fc.constant(fullWidth(character)) },
    {
      weight: 1,
      arbitrary: fc
        .array(fc.constantFrom(...INVISIBLE), { minLength: 1, maxLength: 3 })
        .map((each) => character + each.join('')),
    },
  );

const token = fc.constantFrom(...TOKENS);
const disguised = token.chain((each) =>
  fc.tuple(...[...each].map(disguisedCharacter)).map((parts) => parts.join('')),
);
/** A token inside another. */
const nested = fc
  .tuple(token, token, fc.nat(12))
  .map(([outer, inner, at]) => outer.slice(0, at) + inner + outer.slice(at));
const hostile = fc
  .array(
    fc.oneof(
      token,
      disguised,
      nested,
      fc.constantFrom(...'<[]|>/~!◁ \n\u200Ba＜［｜', 'word ', '日本語', '👩‍👩‍👧'),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));

describe('neutralised', () => {
  it('breaks every control token of the current model families', () => {
    for (const each of TOKENS) {
      expect(tokensIn(each)).toContain(each);
      expect(tokensIn(neutralised(`a${each}b`))).toEqual([]);
    }
  });

  it('leaves no control token and no fence line in any text, and adds only spaces', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const safe = neutralised(text);
        expect(tokensIn(safe)).toEqual([]);
        expect(safe.replaceAll(' ', '')).toBe(text.replaceAll(' ', ''));
        expect(neutralised(safe)).toBe(safe);
      }),
      { numRuns: 3_000 },
    );
  });

  it('gives the same result in slices, wherever they end', async () => {
    for (const each of [...TOKENS, '＜|im_start|>', '<\u200B|im_start|>']) {
      for (const before of [32_768 - 4, 32_768 - 1, 2 * 32_768 - each.length]) {
        const text = `${'x'.repeat(before)}${each}${'y'.repeat(50_000)}`;
        const safe = await neutralisedInTurns(text);
        expect(safe).toBe(neutralised(text));
        expect(tokensIn(safe)).toEqual([]);
      }
    }
  });

  it.each([
    'a < b and c > d; if (x<y) {} else x |> f |> g; f <| g; p <|> q',
    'list[0], see [1] and (2), [INFO] and [WARNING], a[~b], [](x) => x',
    '<div class="s"><h1>T</h1><section><strong-opinion/><user-card id="1"/></section></div>',
    'const a = <User name="x" />; return <Image src={b}><System.Panel/></Image>;',
    'vector<size_t> v; std::map<string, my_type> m; static_cast<uint8_t>(x); Foo<A | B>',
    'def f(x: list[int]) -> None:\n    return {k: v for k, v in x if k >= 1 and v <= 2}',
    'Ein „Zitat“, un café, 今日は、晴れ：２０℃！, نص عربي, 👩‍👩‍👧, fi ﬁ ½ ™ x²',
  ])('does not change ordinary text: %s', (text) => {
    expect(neutralised(text)).toBe(text);
  });
});
