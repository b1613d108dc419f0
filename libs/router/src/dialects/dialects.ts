import type { Backend } from '@svc/contracts';
import type { Dialect } from './dialect.js';
import { comfyui } from './comfyui.js';
import { jsonRpc } from './json-rpc.js';
import { kokoro } from './kokoro.js';
import { openai } from './openai.js';
import { rembg } from './rembg.js';
import { sdapi } from './sdapi.js';
import { whisperCpp } from './whisper-cpp.js';

export function dialectOf({ kind }: Backend): Dialect {
  switch (kind) {
    case 'openai':
    case 'simulator':
      return openai;
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
