import { expect, it } from 'vitest';
import { fullnessIn } from './server-load.js';

it.each([
  [
    'vLLM',
    'vllm:num_requests_waiting{engine="0",model_name="m"} 2.0\nvllm:kv_cache_usage_perc{engine="0"} 0.2',
    0.4,
  ],
  [
    'vLLM with two engines',
    'vllm:num_requests_waiting{engine="0"} 0\nvllm:num_requests_waiting{engine="1"} 10',
    2,
  ],
  ['SGLang', 'sglang:num_queue_reqs{model_name="m"} 1\nsglang:token_usage{model_name="m"} 0.4', 0.5],
  ['llama.cpp', 'llamacpp:requests_deferred 5\nllamacpp:kv_cache_usage_ratio 0.1', 1],
])('reads how full a server of %s is', (_, text, fullness) => {
  expect(fullnessIn(`# HELP x y\n# TYPE x gauge\n${text}\n`)).toBeCloseTo(fullness);
});

it('says nothing of a server without these metrics, or with values that are none', () => {
  for (const text of [
    '',
    '<html>',
    'other 1',
    'vllm:num_requests_waiting NaN',
    'vllm:num_requests_waiting -1',
  ])
    expect(fullnessIn(text)).toBeUndefined();
});
