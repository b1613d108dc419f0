import type { IncomingMessage, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { TestServer } from './test-server.js';

/**
 * What becomes of a job: it is `made`, `works` until it is interrupted, `fails`, makes `nothing`, is `lost`
 * as by a restart, or `invalid`. The first polls of one that is `unsteady` fail.
 */
type Fate = 'made' | 'unsteady' | 'works' | 'fails' | 'nothing' | 'lost' | 'invalid';

interface Graph {
  readonly [id: string]: { readonly class_type: string; readonly inputs: Readonly<Record<string, unknown>> };
}

const UNSTEADY_POLLS = 3;

/** ComfyUI's API as its server has it, with jobs that end as a test directs. */
export class ComfyServer {
  fate: Fate = 'made';
  /** The workflows that arrived. */
  readonly graphs: Graph[] = [];
  /** The calls that end jobs or delete their history, such as `interrupt 1`. */
  readonly cleanUps: string[] = [];
  private readonly running = new Set<string>();
  private failedPolls = 0;

  private constructor(
    private readonly server: TestServer,
    private readonly image: Uint8Array,
  ) {}

  /** Makes this image, as many as the workflow's `batch_size`. */
  static async start(image: Uint8Array): Promise<ComfyServer> {
    const server = await TestServer.start((request, response) => {
      comfy.respond(request, response).catch(() => response.writeHead(500).end());
    });
    const comfy = new ComfyServer(server, image);
    return comfy;
  }

  /** Without a path. */
  get url(): string {
    return this.server.url;
  }

  close(): Promise<void> {
    return this.server.close();
  }

  private async respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url = '' } = request;
    const send = (body: object, status = 200): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const { pathname, searchParams } = new URL(url, 'http://comfy');
    if (method === 'GET') {
      if (pathname.startsWith('/history/')) return this.poll(pathname.slice(9), response, send);
      if (pathname === '/view' && searchParams.get('type') === 'output') {
        response.writeHead(200, { 'content-type': 'image/png' }).end(this.image);
        return;
      }
      if (pathname !== '/queue') return send({}, 404);
      const jobs = [...this.running].map((id) => [0, id, {}, {}, []]);
      return send({ queue_running: jobs, queue_pending: [] });
    }
    const body = (await json(request)) as { prompt: Graph; prompt_id: string; delete: string[] };
    if (pathname === '/prompt') return this.queue(body.prompt, send);
    if (pathname === '/interrupt') this.running.delete(body.prompt_id);
    this.cleanUps.push(`${pathname.slice(1)} ${body.prompt_id ?? body.delete.join(' ')}`);
    response.end();
  }

  private queue(graph: Graph, send: (body: object, status?: number) => void): void {
    this.graphs.push(graph);
    const id = String(this.graphs.length);
    const details = { message: 'Prompt outputs failed validation', details: '', extra_info: {} };
    if (this.fate === 'invalid')
      send({ error: { type: 'prompt_outputs_failed_validation', ...details }, node_errors: {} }, 400);
    else {
      if (this.fate === 'works') this.running.add(id);
      send({ prompt_id: id, number: this.graphs.length, node_errors: {} });
    }
  }

  private poll(id: string, response: ServerResponse, send: (body: object) => void): void {
    if (this.fate === 'unsteady' && this.failedPolls < UNSTEADY_POLLS) {
      this.failedPolls += 1;
      response.destroy();
      return;
    }
    if (this.running.has(id) || this.fate === 'lost' || this.fate === 'works') return send({});
    const error = {
      node_type: 'KSampler',
      exception_type: 'OutOfMemoryError',
      exception_message: 'a secret',
    };
    const status =
      this.fate === 'fails'
        ? { status_str: 'error', completed: false, messages: [['execution_error', error]] }
        : { status_str: 'success', completed: true, messages: [['execution_success', {}]] };
    const count = this.fate === 'made' || this.fate === 'unsteady' ? batchIn(this.graphs[Number(id) - 1]) : 0;
    const images = Array.from({ length: count }, (_, index) => file(`${index}.png`, 'output'));
    // A preview on the way, which is not the result.
    const outputs = { '8': { images: [file('preview.png', 'temp')] }, '9': { images } };
    send({ [id]: { prompt: [], outputs: this.fate === 'nothing' ? {} : outputs, status } });
  }
}

const file = (filename: string, type: string): object => ({ filename, subfolder: '', type });

function batchIn(graph: Graph = {}): number {
  return Number(Object.values(graph).find(({ inputs }) => 'batch_size' in inputs)?.inputs['batch_size']);
}

/** A workflow with a slot for each part of a request. */
export const COMFY_WORKFLOW = {
  '3': {
    class_type: 'KSampler',
    inputs: {
      seed: '$seed',
      steps: { $steps: 20 },
      cfg: { $guidance: 7 },
      sampler_name: 'euler',
      model: ['4', 0],
      positive: ['6', 0],
      negative: ['7', 0],
      latent_image: ['5', 0],
    },
  },
  '4': { class_type: 'CheckpointLoaderSimple', inputs: { ckpt_name: '$model' } },
  '5': {
    class_type: 'EmptyLatentImage',
    inputs: { width: '$width', height: '$height', batch_size: '$count' },
  },
  '6': { class_type: 'CLIPTextEncode', inputs: { text: '$prompt', clip: ['4', 1] } },
  '7': { class_type: 'CLIPTextEncode', inputs: { text: { $negativePrompt: 'blurry' }, clip: ['4', 1] } },
  '9': { class_type: 'SaveImage', inputs: { filename_prefix: 'svc', images: ['8', 0] } },
} as const;
