import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Address } from '@solana/addresses';
import { type Landed, SolanaLedger, landedAs } from './solana-ledger.js';

/** The genesis hash of Solana mainnet. */
const GENESIS = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKqqfExsnp9vj';

const BODY_BYTES = 1_048_576;

const VERSION = '3.0.0';

/** An error response of a node. */
export class NodeRefusal extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

/**
 * Intercepts calls to a node: a returned value is the response, `noResponse` means none, and `undefined`
 * leaves the response to the node.
 */
type Interference = (method: string, params: readonly unknown[]) => unknown;

export const noResponse = Symbol('no response');

/** What happens to submitted transactions: they are executed at once, only by `land()`, or lost. */
type Reception = 'lands' | 'held' | 'lost';

export type SolanaCommitment = 'processed' | 'confirmed' | 'finalized';

const COMMITMENTS: readonly SolanaCommitment[] = ['processed', 'confirmed', 'finalized'];

type Params = readonly unknown[];

interface Options {
  readonly commitment?: SolanaCommitment;
  readonly encoding?: string;
  readonly limit?: number;
  readonly sigVerify?: boolean;
}

const optionsOf = (params: Params): Options => params[1] ?? {};

/**
 * Solana on this machine: LiteSVM, which executes transactions as validators do, behind the JSON-RPC of a
 * node. USDC is at its real address and can be minted freely; nothing is persisted.
 */
export class LocalSolana {
  /** The commitment level of landed transactions. */
  commitment: SolanaCommitment = 'finalized';
  reception: Reception = 'lands';
  interference: Interference = () => undefined;
  private held: string[] = [];

  private constructor(
    readonly ledger: SolanaLedger,
    private readonly server: Server,
    readonly url: string,
  ) {}

  /** Why it can't run here, if so: its native module may be missing. */
  static async fault(): Promise<string | undefined> {
    try {
      await import('litesvm');
      return undefined;
    } catch (error) {
      return `LiteSVM cannot be loaded on this machine: ${String(error)}`;
    }
  }

  static async start({ port = 0 }: { port?: number } = {}): Promise<LocalSolana> {
    const ledger = await SolanaLedger.open();
    const server = createServer((request, response) => {
      void (async () => {
        let text = '';
        for await (const chunk of request) {
          text += String(chunk);
          if (text.length > BODY_BYTES) break;
        }
        const answer = await chain.answer(text);
        if (answer !== undefined) response.setHeader('content-type', 'application/json').end(answer);
      })();
    });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const chain = new LocalSolana(ledger, server, url);
    return chain;
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  /** Mints USDC to an address, with a token account. */
  async mint(address: string, usdc: number): Promise<void> {
    await this.ledger.mint(address, BigInt(Math.round(usdc * 1_000_000)));
  }

  /** Funds the transaction fees of an address. */
  fund(address: string): void {
    this.ledger.fund(address);
  }

  /** The balance of an address, in millionths of a dollar. */
  balanceOf(address: string): Promise<bigint> {
    return this.ledger.balanceOf(address);
  }

  /** A transaction as a node returns it. */
  shown(landed: Landed): object {
    return landedAs(landed);
  }

  /** Executes the held transactions. */
  land(): void {
    this.reception = 'lands';
    for (const wire of this.held.splice(0)) this.ledger.execute(wire);
  }

  /** Advances by empty blocks: after 150 blocks a transaction has expired. */
  pass(blocks: number): void {
    this.ledger.pass(blocks);
  }

  private async answer(text: string): Promise<string | undefined> {
    const { id, method, params = [] } = JSON.parse(text) as { id: unknown; method: string; params?: Params };
    try {
      const wanted = await this.interference(method, params);
      if (wanted === noResponse) return undefined;
      const result = wanted === undefined ? this.call(method, params) : wanted;
      return JSON.stringify({ jsonrpc: '2.0', id, result });
    } catch (error) {
      const code = error instanceof NodeRefusal ? error.code : -32_603;
      const message = error instanceof Error ? error.message : String(error);
      return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } });
    }
  }

  private call(method: string, params: Params): unknown {
    const { ledger } = this;
    const [first] = params;
    switch (method) {
      case 'getHealth':
        return 'ok';
      case 'getVersion':
        return { 'solana-core': VERSION, 'feature-set': 0 };
      case 'getGenesisHash':
        return GENESIS;
      case 'getIdentity':
        return { identity: randomUUID() };
      case 'getSlot':
        return ledger.slot;
      case 'getBlockHeight':
        return ledger.slot;
      case 'getFirstAvailableBlock':
        return 0;
      case 'getEpochInfo':
        return { absoluteSlot: ledger.slot, blockHeight: ledger.slot, epoch: 0, slotIndex: ledger.slot };
      case 'getLatestBlockhash':
        return this.now({ blockhash: ledger.blockhash, lastValidBlockHeight: ledger.lastValidHeight });
      case 'isBlockhashValid':
        return this.now(first === ledger.blockhash);
      case 'getBalance':
        return this.now(ledger.lamportsOf(first as Address));
      case 'getAccountInfo':
        return this.now(ledger.account(first as Address));
      case 'simulateTransaction':
        return this.now(ledger.simulate(String(first), optionsOf(params).sigVerify === true));
      case 'sendTransaction':
        return this.send(String(first));
      case 'getSignatureStatuses':
        return this.now((first as string[]).map((signature) => this.status(signature)));
      case 'getTransaction':
        return this.transaction(String(first), optionsOf(params));
      case 'getSignaturesForAddress':
        return this.signatures(String(first), optionsOf(params));
      default:
        throw new NodeRefusal(-32_601, 'Method not found');
    }
  }

  private now(value: unknown): unknown {
    return { context: { slot: this.ledger.slot, apiVersion: VERSION }, value };
  }

  /** As with `skipPreflight`: the node returns only the signature. */
  private send(wire: string): string {
    if (this.reception === 'lands') return this.ledger.execute(wire);
    if (this.reception === 'held' && !this.held.includes(wire)) this.held.push(wire);
    return this.ledger.signatureOf(wire);
  }

  private status(signature: string): unknown {
    const landed = this.ledger.find(signature);
    if (!landed) return null;
    const { slot, error } = landed;
    const confirmations = this.commitment === 'finalized' ? null : 1;
    const status = error === null ? { Ok: null } : { Err: error };
    return { slot, confirmations, err: error, status, confirmationStatus: this.commitment };
  }

  private isVisible({ commitment = 'finalized' }: Options): boolean {
    return COMMITMENTS.indexOf(this.commitment) >= COMMITMENTS.indexOf(commitment);
  }

  private transaction(signature: string, options: Options): unknown {
    const landed = this.isVisible(options) ? this.ledger.find(signature) : undefined;
    return landed ? landedAs(landed) : null;
  }

  private signatures(address: string, { limit = 1_000, ...options }: Options): unknown {
    if (!this.isVisible(options)) return [];
    const { commitment } = this;
    return this.ledger
      .transactionsOf(address)
      .slice(0, limit)
      .map(({ signature, slot, error }) => ({
        signature,
        slot,
        err: error,
        memo: null,
        confirmationStatus: commitment,
      }));
  }
}
