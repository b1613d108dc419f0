import type { Backend } from '@svc/contracts';
import type { Dialect } from './dialect.js';
import { comfyui } from './comfyui.js';
import { jsonRpc } from './json-rpc.js';
import { kokoro } from './kokoro.js';
import { openai } from './openai.js';
import { rembg } from './rembg.js';
import { sdapi } from './sdapi.js';
import { vllmProxy } from './vllm-proxy.js';
import { whisperCpp } from './whisper-cpp.js';

export function dialectOf({ kind, tee }: Backend): Dialect {
  switch (kind) {
    case 'openai':
      return openai;
    case 'simulator':
      return tee ? vllmProxy : openai;
    case 'vllm-proxy':
      return vllmProxy;
    case 'comfyui':
      return comfyui;
    case 'json-rpc':
      return jsonRpc;
    case 'kokoro':
      return kokoro;
    case 'rembg':
      return rembg;
    case 'sdapi':
      return sdapi;
    case 'whisper-cpp':
      return whisperCpp;
  }
}
