import { Catalog } from '@svc/catalog';
import { afterEach } from 'vitest';
import type { RouterPorts } from '../src/api/router-ports.js';
import { type Reply, TestBackend } from './backend.js';
import { catalogFile, catalogOf, deadUrl } from './routing.js';

/** The router under test. */
interface RouterSubject<Router> {
  readonly router: Router;
  stop(): Promise<void>;
}

/** In a conformance, backends have 500 ms to begin and may pause for 250 ms; a stream has 64 MiB at most. */
export type StartRouter<Router = RouterPorts> = (
  catalog: Catalog,
) => RouterSubject<Router> | Promise<RouterSubject<Router>>;

/** The router of a test with its backends, which all end after the test. */
export class RouterFixture<Router = RouterPorts> {
  readonly backends: TestBackend[] = [];
  private readonly subjects: RouterSubject<Router>[] = [];

  constructor(private readonly start: StartRouter<Router>) {
    afterEach(() => this.stop());
  }

  /** The one that was started last. */
  get router(): Router {
    const { router } = this.subjects.at(-1) ?? {};
    if (!router) throw new Error('no router was started');
    return router;
  }

  async begin(catalog: Catalog): Promise<void> {
    this.subjects.push(await this.start(catalog));
  }

  /** Starts a router whose model has these backends, the first of them preferred. */
  async given(...replies: readonly (Reply | 'dead')[]): Promise<readonly TestBackend[]> {
    const urls: string[] = [];
    for (const reply of replies)
      urls.push(reply === 'dead' ? await deadUrl() : (await this.backend(reply)).url);
    await this.begin(catalogOf(urls));
    return this.backends;
  }

  /** Starts a router whose model has one backend with more settings. */
  async givenOne(reply: Reply, settings: object): Promise<TestBackend> {
    const backend = await this.backend(reply);
    const entry = { url: backend.url, model: 'x', ...settings };
    await this.begin(new Catalog(catalogFile({ id: 'm', backends: [entry] })));
    return backend;
  }

  async stop(): Promise<void> {
    for (const subject of this.subjects.splice(0)) await subject.stop();
    for (const backend of this.backends.splice(0)) await backend.close();
  }

  private async backend(reply: Reply): Promise<TestBackend> {
    const backend = await TestBackend.start(reply);
    this.backends.push(backend);
    return backend;
  }
}
