import { writeFile } from 'node:fs/promises';

/** The width of all layers. One position of the text has one dimension, so no text may be longer. */
const WIDTH = 64;
const MELS = 80;
const AUDIO_CONTEXT = 1_500;
const TEXT_CONTEXT = 448;
/** The size of the multilingual vocabulary. whisper.cpp names the tokens that the file leaves out. */
const VOCABULARY = 51_865;
const FIRST_TIMESTAMP = 50_364;
const END = 50_257;
/** Positions of a text are preceded by the start of a transcript, a language and a task. */
const FIRST_POSITION = 2;
/** Follow a space in tokens that every vocabulary must have, since whisper.cpp looks them up. */
const EVER_SUPPRESSED = ['', '-', "'"];
/** The number of timestamps per second. */
const STEPS_PER_SECOND = 50;

type Shape = readonly [number, ...number[]];

/** The tensors of attention. */
function attention(name: string): [string, Shape][] {
  const square: Shape = [WIDTH, WIDTH];
  return [
    [`${name}_ln.weight`, [WIDTH]],
    [`${name}_ln.bias`, [WIDTH]],
    [`${name}.query.weight`, square],
    [`${name}.query.bias`, [WIDTH]],
    [`${name}.key.weight`, square],
    [`${name}.value.weight`, square],
    [`${name}.value.bias`, [WIDTH]],
    [`${name}.out.weight`, square],
    [`${name}.out.bias`, [WIDTH]],
  ];
}

/** The tensors of the layers behind attention. */
function feedForward(name: string): [string, Shape][] {
  return [
    [`${name}.mlp_ln.weight`, [WIDTH]],
    [`${name}.mlp_ln.bias`, [WIDTH]],
    [`${name}.mlp.0.weight`, [WIDTH, 4 * WIDTH]],
    [`${name}.mlp.0.bias`, [4 * WIDTH]],
    [`${name}.mlp.2.weight`, [4 * WIDTH, WIDTH]],
    [`${name}.mlp.2.bias`, [WIDTH]],
  ];
}

/** All tensors. Those without values are zero, so what is heard makes no difference. */
const SHAPES: readonly [string, Shape][] = [
  ['encoder.positional_embedding', [WIDTH, AUDIO_CONTEXT]],
  ['encoder.conv1.weight', [3, MELS, WIDTH]],
  ['encoder.conv1.bias', [1, WIDTH]],
  ['encoder.conv2.weight', [3, WIDTH, WIDTH]],
  ['encoder.conv2.bias', [1, WIDTH]],
  ['encoder.ln_post.weight', [WIDTH]],
  ['encoder.ln_post.bias', [WIDTH]],
  ...feedForward('encoder.blocks.0'),
  ...attention('encoder.blocks.0.attn'),
  ['decoder.positional_embedding', [WIDTH, TEXT_CONTEXT]],
  ['decoder.token_embedding.weight', [WIDTH, VOCABULARY]],
  ['decoder.ln.weight', [WIDTH]],
  ['decoder.ln.bias', [WIDTH]],
  ...feedForward('decoder.blocks.0'),
  ...attention('decoder.blocks.0.attn'),
  ...attention('decoder.blocks.0.cross_attn'),
];

function floats(...values: readonly number[]): Buffer {
  return Buffer.from(new Float32Array(values).buffer);
}

function integers(...values: readonly number[]): Buffer {
  return Buffer.from(new Int32Array(values).buffer);
}

type Values = Float32Array | Float16Array;

/** Matrices of weights have half precision, which the convolutions of whisper.cpp require. */
function tensor(name: string, shape: Shape, fill: (values: Values) => void): Buffer {
  const size = shape.reduce((product, each) => product * each, 1);
  const isHalf = shape.length > 1 && name.endsWith('.weight');
  const values = isHalf ? new Float16Array(size) : new Float32Array(size);
  fill(values);
  const header = integers(shape.length, Buffer.byteLength(name), isHalf ? 1 : 0, ...shape);
  return Buffer.concat([header, Buffer.from(name), Buffer.from(values.buffer)]);
}

/**
 * Writes a Whisper model in the format of whisper.cpp that returns the same words for any audio, as spoken in
 * its first `seconds`: at each position of the text, the position alone decides the next token.
 */
export async function writeTinyWhisper(
  path: string,
  words: readonly string[],
  seconds: number,
): Promise<void> {
  const spoken = words.map((_, index) => index);
  const tokens = [FIRST_TIMESTAMP, ...spoken, FIRST_TIMESTAMP + seconds * STEPS_PER_SECOND, END];
  const fills: Readonly<Record<string, (values: Values) => void>> = {
    'decoder.ln.weight': (values) => values.fill(1),
    'decoder.positional_embedding': (values) => {
      for (let at = 0; at < WIDTH; at += 1) values[at * WIDTH + at] = 100;
    },
    'decoder.token_embedding.weight': (values) => {
      for (const [index, token] of tokens.entries()) values[token * WIDTH + FIRST_POSITION + index] = 4;
    },
  };
  const texts = [...words, ...EVER_SUPPRESSED].map((word) => Buffer.from(` ${word}`));
  await writeFile(
    path,
    Buffer.concat([
      integers(0x67_67_6d_6c),
      integers(VOCABULARY, AUDIO_CONTEXT, WIDTH, 1, 1, TEXT_CONTEXT, WIDTH, 1, 1, MELS, 1),
      integers(MELS, 201),
      floats(...Array.from({ length: MELS * 201 }, () => 0)),
      integers(texts.length),
      ...texts.flatMap((text) => [integers(text.length), text]),
      ...SHAPES.map(([name, shape]) => tensor(name, shape, fills[name] ?? (() => undefined))),
    ]),
  );
}
