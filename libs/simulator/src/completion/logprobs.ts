import { Hash, Random } from '../random.js';

interface TokenLogprob {
  readonly token: string;
  readonly logprob: number;
  readonly bytes: readonly number[];
}

export interface ContentLogprob extends TokenLogprob {
  readonly top_logprobs: readonly TokenLogprob[];
}

const ALTERNATIVES = [' the', ' a', ' and', ' of', ' to', ' in', ' it', ' is', ' was', ' for', ' on'].concat([
  ' as',
  ' by',
  ' at',
  ' or',
  ' an',
  ' be',
  ' no',
  ' so',
  ' we',
  ' up',
  ' my',
]);

/**
 * The log probability of a token with its `top` most likely alternatives; depends only on the token and its
 * position.
 */
export function contentLogprob(token: string, position: number, top: number): ContentLogprob {
  const random = new Random(new Hash().add(token).addNumber(position).value());
  // The chosen token keeps over half of the probability, so that it is always the most likely.
  const chosen = 0.55 + 0.44 * random.next();
  const others = ALTERNATIVES.filter((other) => other !== token).slice(0, Math.max(top - 1, 0));
  let left = 1 - chosen;
  const tops = others.map((other) => {
    left /= 2;
    return describe(other, left);
  });
  const best = describe(token, chosen);
  return { ...best, top_logprobs: top === 0 ? [] : [best, ...tops] };
}

function describe(token: string, probability: number): TokenLogprob {
  return { token, logprob: Number(Math.log(probability).toFixed(6)), bytes: [...Buffer.from(token)] };
}
