/**
 * The APIs of backends. `kokoro` is Kokoro-FastAPI; `whisper-cpp` is the server of whisper.cpp; `sdapi` is
 * the API of the Stable Diffusion web UI, which stable-diffusion.cpp, Forge and SD.Next have as well;
 * `rembg` is the server of rembg, which removes backgrounds; `comfyui` is ComfyUI, for models of the type
 * `image`. The URLs of these three have no path. `json-rpc` is a blockchain node, for networks only; `vllm-
 * proxy` is the proxy of NEAR AI and Phala before vLLM, in an enclave; `simulator` is the model simulator,
 * without a URL the one of this process. `llama-cpp-python` is the server of that name, which refuses
 * `content: null`. `anthropic` is Anthropic's Messages API, as
 * `https://api.anthropic.com/v1`, `gemini` Google's Gemini API, as
 * `https://generativelanguage.googleapis.com/v1beta`, and `bedrock` the Converse API of Amazon Bedrock, as
 * `https://bedrock-runtime.REGION.amazonaws.com`. `vertex` is the Gemini API on Vertex AI, as
 * `https://REGION-aiplatform.googleapis.com/v1/projects/PROJECT/locations/REGION/publishers/google`, and
 * `azure` Azure OpenAI, as `https://NAME.openai.azure.com/openai/v1`. `tei` is Text Embeddings Inference as a
 * server of rerankers, whose URL has no path, and `cohere` Cohere's API, as `https://api.cohere.com/v2`.
 */
export const BACKEND_KINDS = [
  'openai',
  'kokoro',
  'whisper-cpp',
  'sdapi',
  'rembg',
  'comfyui',
  'json-rpc',
  'vllm-proxy',
  'simulator',
  'llama-cpp-python',
  'anthropic',
  'gemini',
  'bedrock',
  'vertex',
  'azure',
  'tei',
  'cohere',
] as const;

/** The kinds with an endpoint that counts the tokens of a prompt. */
export const COUNTING_KINDS: ReadonlySet<(typeof BACKEND_KINDS)[number]> = new Set([
  'anthropic',
  'gemini',
  'bedrock',
  'vertex',
]);
