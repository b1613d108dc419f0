import { BLOCK_BYTES, FileBlocks } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import { routes } from '@svc/api';
import { type Exchange, InternalClient, type NeighbourAddress } from '@svc/runtime';

/** For a call that the store may have to make twice. */
const CALL_MS = 70_000;

/** The blocks of another process. Repeating a call has no further effect. */
export class HttpFileBlocks extends FileBlocks {
  private readonly client: InternalClient;

  constructor(address: NeighbourAddress) {
    super();
    this.client = new InternalClient(address);
  }

  override async put(name: string, bytes: Uint8Array): Promise<void> {
    const path = routes.storeFileBlock.path.replace(':name', name);
    const headers = { 'content-type': 'application/octet-stream' };
    await this.call(path, { body: bytes, headers }, (exchange) => exchange.text(BLOCK_BYTES));
  }

  override get(name: string): Promise<Buffer | undefined> {
    const body = JSON.stringify({ name });
    return this.call(routes.readFileBlock.path, { body }, (exchange) => exchange.bytes(BLOCK_BYTES));
  }

  override async remove(name: string): Promise<void> {
    const body = JSON.stringify({ name });
    await this.call(routes.removeFileBlock.path, { body }, (exchange) => exchange.text(BLOCK_BYTES));
  }

  close(): Promise<void> {
    return this.client.close();
  }

  /** The result of a call; undefined if there is no such block. */
  private async call<Result>(
    path: string,
    sent: { readonly body: string | Uint8Array; readonly headers?: Readonly<Record<string, string>> },
    take: (exchange: Exchange) => Result | Promise<Result>,
  ): Promise<Result | undefined> {
    try {
      return await this.client.open({ path, ...sent, deadlineMs: CALL_MS, idempotent: true }, (exchange) => {
        if (exchange.status === 200) return take(exchange);
        exchange.abort();
        if (exchange.status === 404) return undefined;
        throw new TypeError(`the other process responded with ${exchange.status}`);
      });
    } catch (error) {
      throw new Problem('UNAVAILABLE', { cause: error });
    }
  }
}
