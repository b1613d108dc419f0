/**
 * The metrics of model servers that say how busy they are: calls that wait, and the share of the cache of
 * keys and values that is in use. Of vLLM, SGLang and llama.cpp, by their names with underscores for colons.
 */
const WAITING: ReadonlySet<string> = new Set([
  'vllm_num_requests_waiting',
  'sglang_num_queue_reqs',
  'llamacpp_requests_deferred',
]);
const CACHE: ReadonlySet<string> = new Set([
  'vllm_kv_cache_usage_perc',
  'vllm_gpu_cache_usage_perc',
  'sglang_token_usage',
  'llamacpp_kv_cache_usage_ratio',
]);

/** A server is full with this many calls that wait, or with this share of its cache in use. */
const MOST_WAITING = 5;
const MOST_CACHE = 0.8;

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{[^\n]*\})? ([^\s]+)/gm;

/**
 * How full a server is by its own metrics, in the text format of Prometheus: 1 is full. `undefined` if it has
 * none of these metrics. Of several engines behind one server the fullest counts.
 */
export function fullnessIn(text: string): number | undefined {
  let fullness: number | undefined;
  for (const [, name = '', number] of text.matchAll(LINE)) {
    const key = name.replaceAll(':', '_');
    const most = WAITING.has(key) ? MOST_WAITING : CACHE.has(key) ? MOST_CACHE : undefined;
    const value = Number(number);
    if (most === undefined || !Number.isFinite(value) || value < 0) continue;
    fullness = Math.max(fullness ?? 0, value / most);
  }
  return fullness;
}
