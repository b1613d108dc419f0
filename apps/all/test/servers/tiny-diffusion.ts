import { open } from 'node:fs/promises';

/** The width of the only layer of the transformer, which has one head. */
const WIDTH = 128;
/** The widths of the text encoders. T5 may be absent. */
const T5_WIDTH = 4_096;
const CLIP_WIDTH = 768;
/** The size of CLIP is fixed in stable-diffusion.cpp. */
const CLIP_LAYERS = 12;
const CLIP_TOKENS = 49_408;
const CLIP_CONTEXT = 77;
const LATENT = 16;
const CHANNELS = 64;

type Shape = readonly number[];

const linear = (name: string, inputs: number, outputs: number): [string, Shape][] => [
  [`${name}.weight`, [outputs, inputs]],
  [`${name}.bias`, [outputs]],
];

/** A convolution. */
const convolution = (name: string, inputs: number, outputs: number): [string, Shape][] => [
  [`${name}.weight`, [outputs, inputs, 3, 3]],
  [`${name}.bias`, [outputs]],
];

/** A convolution that halves or doubles the size of the image. */
const resizing = (name: string): [string, Shape] => [`${name}.weight`, [CHANNELS, CHANNELS, 3, 3]];

/** A block of the autoencoder. */
const block = (name: string): [string, Shape][] =>
  [0, 2, 4].flatMap((at) => convolution(`${name}.conv.${at}`, CHANNELS, CHANNELS));

/** One of the two streams of a layer. */
const stream = (name: string): [string, Shape][] => [
  ...linear(`${name}_mod.lin`, WIDTH, 6 * WIDTH),
  ...linear(`${name}_attn.qkv`, WIDTH, 3 * WIDTH),
  [`${name}_attn.norm.query_norm.scale`, [WIDTH]],
  [`${name}_attn.norm.key_norm.scale`, [WIDTH]],
  ...linear(`${name}_attn.proj`, WIDTH, WIDTH),
  ...linear(`${name}_mlp.0`, WIDTH, 4 * WIDTH),
  ...linear(`${name}_mlp.2`, 4 * WIDTH, WIDTH),
];

/** A transformer in the form of Flux with one layer. */
function transformer(): [string, Shape][] {
  const tensors = [
    ...linear('img_in', 4 * LATENT, WIDTH),
    ...linear('txt_in', T5_WIDTH, WIDTH),
    ...linear('time_in.in_layer', 256, WIDTH),
    ...linear('time_in.out_layer', WIDTH, WIDTH),
    ...linear('vector_in.in_layer', CLIP_WIDTH, WIDTH),
    ...linear('vector_in.out_layer', WIDTH, WIDTH),
    ...stream('double_blocks.0.img'),
    ...stream('double_blocks.0.txt'),
    ...linear('final_layer.linear', WIDTH, 4 * LATENT),
    ...linear('final_layer.adaLN_modulation.1', WIDTH, 2 * WIDTH),
  ];
  return tensors.map(([name, shape]) => [`model.diffusion_model.${name}`, shape]);
}

/** A text encoder. Since its values are zero, every prompt makes the same image. */
function textEncoder(): [string, Shape][] {
  const norm = (name: string): [string, Shape][] => [
    [`${name}.weight`, [CLIP_WIDTH]],
    [`${name}.bias`, [CLIP_WIDTH]],
  ];
  const layers = Array.from({ length: CLIP_LAYERS }, (_, at) => `encoder.layers.${at}`);
  const tensors: [string, Shape][] = [
    ['embeddings.token_embedding.weight', [CLIP_TOKENS, CLIP_WIDTH]],
    ['embeddings.position_embedding.weight', [CLIP_CONTEXT, CLIP_WIDTH]],
    ...layers.flatMap((layer) => [
      ...norm(`${layer}.layer_norm1`),
      ...norm(`${layer}.layer_norm2`),
      ...['q', 'k', 'v', 'out'].flatMap((part) =>
        linear(`${layer}.self_attn.${part}_proj`, CLIP_WIDTH, CLIP_WIDTH),
      ),
      ...linear(`${layer}.mlp.fc1`, CLIP_WIDTH, 4 * CLIP_WIDTH),
      ...linear(`${layer}.mlp.fc2`, 4 * CLIP_WIDTH, CLIP_WIDTH),
    ]),
    ...norm('final_layer_norm'),
  ];
  return tensors.map(([name, shape]) => [`text_encoders.clip_l.transformer.text_model.${name}`, shape]);
}

/** The small autoencoder of madebyollin, which enlarges a latent image eight times. */
function autoencoder(): [string, Shape][] {
  const encoder: [string, Shape][] = [
    ...convolution('encoder.layers.0', 3, CHANNELS),
    ...block('encoder.layers.1'),
    ...[2, 6, 10].flatMap((at) => [
      resizing(`encoder.layers.${at}`),
      ...[1, 2, 3].flatMap((next) => block(`encoder.layers.${at + next}`)),
    ]),
    ...convolution('encoder.layers.14', CHANNELS, LATENT),
  ];
  const decoder: [string, Shape][] = [
    ...convolution('decoder.layers.0', LATENT, CHANNELS),
    ...[2, 7, 12].flatMap((at) => [
      ...[0, 1, 2].flatMap((next) => block(`decoder.layers.${at + next}`)),
      resizing(`decoder.layers.${at + 4}`),
    ]),
    ...block('decoder.layers.17'),
    ...convolution('decoder.layers.18', CHANNELS, 3),
  ];
  return [...encoder, ...decoder];
}

/** Writes tensors as safetensors. All values are zero except the given ones, so the file is sparse. */
async function write(
  path: string,
  tensors: readonly [string, Shape][],
  values: Readonly<Record<string, readonly number[]>>,
): Promise<void> {
  const header: Record<string, object> = {};
  let bytes = 0;
  const given: { readonly at: number; readonly data: Float32Array }[] = [];
  for (const [name, shape] of tensors) {
    const size = 4 * shape.reduce((product, each) => product * each, 1);
    const data = values[name];
    if (data) given.push({ at: bytes, data: Float32Array.from(data) });
    header[name] = { dtype: 'F32', shape, data_offsets: [bytes, bytes + size] };
    bytes += size;
  }
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  const file = await open(path, 'w');
  try {
    await file.write(Buffer.concat([length, text]));
    const start = length.length + text.length;
    for (const { at, data } of given) await file.write(data, 0, data.byteLength, start + at);
    await file.truncate(start + bytes);
  } finally {
    await file.close();
  }
}

/** Writes a model that makes images of one color, whose parts are from 0 to 1. */
export async function writeTinyDiffusion(
  paths: { readonly model: string; readonly autoencoder: string },
  color: readonly [number, number, number],
): Promise<void> {
  await write(paths.model, [...transformer(), ...textEncoder()], {});
  await write(paths.autoencoder, autoencoder(), { 'decoder.layers.18.bias': color });
}
