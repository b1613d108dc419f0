import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@svc/storage';

/** The id of Base. */
const CHAIN_ID = 8_453;

/** USDC on Base. */
const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';

/**
 * The runtime bytecode, in hex, of a token with the interface and the EIP-712 domain of USDC on Base,
 * compiled from `contracts/test-usdc.sol` by solc 0.8.37 (optimizer, 200 runs, cancun).
 */
const TOKEN_CODE = new URL('../contracts/test-usdc.hex', import.meta.url);

/** The selectors of `mint(address,uint256)` and `balanceOf(address)`. */
const MINT = '0x40c10f19';
const BALANCE_OF = '0x70a08231';

const START_MS = 60_000;
const RESPONSE_MS = 60_000;

/** Gas for many transactions, in wei. */
const MUCH_GAS = `0x${(10n ** 20n).toString(16)}`;

interface LocalChainOptions {
  /** Default: a free port. */
  readonly port?: number;
  /** Seconds between blocks; without it, each transaction gets its own block at once. */
  readonly blockSeconds?: number;
  /** Default: that of Base. */
  readonly chainId?: number;
  /** Default: the address of USDC on Base. */
  readonly usdc?: string;
}

/** Base on this machine: anvil, with a token instead of USDC that anyone can mint. */
export class LocalChain {
  private minting: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly anvil: ChildProcess,
    readonly url: string,
    private readonly usdc: string,
  ) {}

  static async start({
    port,
    blockSeconds,
    chainId = CHAIN_ID,
    usdc = USDC,
  }: LocalChainOptions = {}): Promise<LocalChain> {
    const on = port ?? (await freePort());
    const options = ['--chain-id', String(chainId), '--port', String(on), '--silent'];
    if (blockSeconds !== undefined) options.push('--block-time', String(blockSeconds));
    const anvil = spawn(anvilBinary(), options, { stdio: 'ignore' });
    const end = (): void => {
      anvil.kill('SIGKILL');
    };
    process.once('exit', end);
    anvil.once('exit', () => process.off('exit', end));
    const chain = new LocalChain(anvil, `http://127.0.0.1:${on}`, usdc);
    try {
      await chain.waitUntilReady();
      await chain.call('anvil_setCode', [usdc, `0x${(await readFile(TOKEN_CODE, 'utf8')).trim()}`]);
    } catch (error) {
      await chain.stop();
      throw error;
    }
    return chain;
  }

  /** Mints USDC to an address. */
  mint(address: string, usdc: number): Promise<void> {
    // One after the other, since all are sent from the same account.
    const minted = this.minting.then(() => this.mintNow(address, usdc));
    this.minting = minted.catch(() => undefined);
    return minted;
  }

  private async mintNow(address: string, usdc: number): Promise<void> {
    const [from] = (await this.call('eth_accounts', [])) as string[];
    const units = BigInt(Math.round(usdc * 1_000_000));
    const hash = await this.call('eth_sendTransaction', [
      { from, to: this.usdc, data: MINT + word(address) + word(units.toString(16)) },
    ]);
    while ((await this.call('eth_getTransactionReceipt', [hash])) === null) await sleep(50);
  }

  /** Funds the gas of an address. */
  async fund(address: string): Promise<void> {
    await this.call('anvil_setBalance', [address, MUCH_GAS]);
  }

  /** The balance of an address, in millionths of a dollar. */
  async balanceOf(address: string): Promise<bigint> {
    return BigInt(
      String(await this.call('eth_call', [{ to: this.usdc, data: BALANCE_OF + word(address) }, 'latest'])),
    );
  }

  /** Calls any JSON-RPC method, including anvil's own. */
  async call(method: string, params: readonly unknown[]): Promise<unknown> {
    const response = await fetch(this.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal: AbortSignal.timeout(RESPONSE_MS),
    });
    const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } };
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  async stop(): Promise<void> {
    if (this.anvil.exitCode !== null || this.anvil.signalCode !== null) return;
    const exited = once(this.anvil, 'exit');
    this.anvil.kill('SIGTERM');
    await exited;
  }

  private async waitUntilReady(): Promise<void> {
    const endMs = performance.now() + START_MS;
    for (;;) {
      try {
        await this.call('eth_chainId', []);
        return;
      } catch (error) {
        if (performance.now() > endMs || this.anvil.exitCode !== null)
          throw new Error('anvil did not start', { cause: error });
        await sleep(50);
      }
    }
  }
}

/** An argument of a call: 32 bytes in hex. */
const word = (hex: string): string => hex.replace(/^0x/, '').toLowerCase().padStart(64, '0');

/** The platform's own binary; the wrapper in the main package is not needed. */
function anvilBinary(): string {
  const processor = process.arch === 'x64' ? 'amd64' : process.arch;
  const name = `@foundry-rs/anvil-${process.platform}-${processor}`;
  const require = createRequire(import.meta.url);
  return require.resolve(`${name}/bin/anvil${process.platform === 'win32' ? '.exe' : ''}`);
}
