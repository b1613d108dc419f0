import { base58 } from '@scure/base';
import { LocalChain, LocalSolana } from '@svc/infra';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Seller, sellerOn, sellerOnSolana } from '../buyers.js';
import { contractOf } from '../contract-wallets.js';
import { Platform } from '../platform.js';
import { signedTransaction } from '../solana-payments.js';
import { type EvmWallet, type SolanaWallet, evmWallet, solanaWallet } from '../wallets.js';
import { BrowserWindow, CHROMIUM, startChromium } from './browser-window.js';

const fault = await LocalSolana.fault();

let browser: Browser;
let chain: LocalChain;
let solana: LocalSolana | undefined;
let seller: Seller;
let solanaSeller: Seller | undefined;
let platform: Platform;

/** What the page asks of the wallet, and whether its owner refuses to pay. */
interface ExtensionState {
  readonly calls: string[];
  refuses: boolean;
}

interface WalletRequest {
  readonly method: string;
  readonly params?: readonly unknown[];
}

/** Installs a wallet into a page as an extension does; its key stays outside of the page. */
async function install(
  page: Page,
  wallet: Pick<EvmWallet, 'address' | 'account' | 'signMessage'>,
): Promise<ExtensionState> {
  const state: ExtensionState = { calls: [], refuses: false };
  const answers: Record<string, (params: readonly unknown[]) => unknown> = {
    eth_requestAccounts: () => [wallet.address],
    wallet_switchEthereumChain: () => null,
    personal_sign: ([hex]) => wallet.signMessage(Buffer.from(String(hex).slice(2), 'hex').toString()),
    eth_signTypedData_v4: ([, text]) =>
      wallet.account.signTypedData(
        JSON.parse(String(text)) as Parameters<EvmWallet['account']['signTypedData']>[0],
      ),
  };
  await page.exposeFunction('askWallet', async ({ method, params = [] }: WalletRequest) => {
    state.calls.push(method);
    if (state.refuses && method === 'eth_signTypedData_v4') return { code: 4001 };
    return { value: await answers[method]?.(params) };
  });
  await page.addInitScript(() => {
    type Ask = (call: WalletRequest) => Promise<{ value?: unknown; code?: number }>;
    const { askWallet } = globalThis as unknown as { askWallet: Ask };
    const provider = {
      request: async (call: WalletRequest) => {
        const { value, code } = await askWallet(call);
        if (code !== undefined) throw Object.assign(new Error('User rejected the request.'), { code });
        return value;
      },
    };
    const info = { uuid: '1', name: 'Test wallet', rdns: 'test', icon: 'data:image/svg+xml,<svg/>' };
    addEventListener('eip6963:requestProvider', () =>
      dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: { info, provider } })),
    );
  });
  return state;
}

/** The same for a wallet on Solana, of the Wallet Standard. */
async function installSolana(page: Page, wallet: SolanaWallet): Promise<ExtensionState> {
  const state: ExtensionState = { calls: [], refuses: false };
  const answers: Record<string, (bytes: Buffer) => Promise<Uint8Array>> = {
    signMessage: async (bytes) => base58.decode(await wallet.signMessage(bytes.toString())),
    signTransaction: async (bytes) =>
      Buffer.from(await signedTransaction(wallet, bytes.toString('base64')), 'base64'),
  };
  await page.exposeFunction('askSolana', async (method: string, bytes: number[]) => {
    state.calls.push(method);
    if (state.refuses && method === 'signTransaction') return undefined;
    return [...((await answers[method]?.(Buffer.from(bytes))) ?? [])];
  });
  await page.addInitScript((address: string) => {
    type Ask = (method: string, bytes: number[]) => Promise<number[] | undefined>;
    const { askSolana } = globalThis as unknown as { askSolana: Ask };
    const ask = async (method: string, bytes: Uint8Array) => {
      const answer = await askSolana(method, [...bytes]);
      if (!answer) throw new Error('User rejected the request.');
      return new Uint8Array(answer);
    };
    const features = {
      'standard:connect': { connect: () => Promise.resolve({ accounts: [{ address }] }) },
      'solana:signMessage': {
        signMessage: async ({ message }: { message: Uint8Array }) => [
          { signature: await ask('signMessage', message) },
        ],
      },
      'solana:signTransaction': {
        signTransaction: async ({ transaction }: { transaction: Uint8Array }) => [
          { signedTransaction: await ask('signTransaction', transaction) },
        ],
      },
    };
    const own = { name: 'Solana wallet', icon: 'data:image/svg+xml,<svg/>', features };
    const register = (api: { register(wallet: object): void }) => api.register(own);
    addEventListener('wallet-standard:app-ready', (event) =>
      register((event as CustomEvent<Parameters<typeof register>[0]>).detail),
    );
    dispatchEvent(new CustomEvent('wallet-standard:register-wallet', { detail: register }));
  }, wallet.address);
  return state;
}

describe.runIf(CHROMIUM !== undefined)('a wallet in the console', () => {
  beforeAll(async () => {
    [browser, chain] = await Promise.all([startChromium(), LocalChain.start()]);
    seller = await sellerOn(chain);
    if (fault === undefined) solana = await LocalSolana.start();
    solanaSeller = solana && (await sellerOnSolana(solana));
    platform = await Platform.start({
      hasOwnProcess: true,
      env: { ...seller.env, ...solanaSeller?.env, X402_SETTLE_WAIT_MS: '2000' },
    });
  });
  afterAll(async () => {
    await browser?.close();
    await platform?.stop();
    await chain?.stop();
    solana?.stop();
  });

  it('signs in, pays ten dollars once, and pays nothing when its owner refuses', async () => {
    const wallet = evmWallet();
    await chain.mint(wallet.address, 100);
    const opened = await BrowserWindow.open(browser, platform.rootUrl);
    const { page } = opened;
    const extension = await install(page, wallet);
    await opened.visit();
    await page.getByRole('button', { name: /Test wallet/ }).click();
    await opened.heading('Overview');
    await opened.open('Credit');
    await page.getByLabel('Amount in US dollars').fill('10');
    await page.getByRole('button', { name: 'Continue' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add credit' });
    await dialog.getByText('$10.00').waitFor();
    expect((await dialog.textContent())?.toLowerCase()).toContain(seller.address.toLowerCase());
    extension.refuses = true;
    await dialog.getByRole('button', { name: /Pay with/ }).click();
    await dialog.getByText('You refused in the wallet').waitFor();
    expect(await chain.balanceOf(wallet.address)).toBe(100_000_000n);
    extension.refuses = false;
    await dialog.getByRole('button', { name: /Pay with/ }).dblclick();
    await page.getByText('$10.00 credited').waitFor();
    expect(await chain.balanceOf(wallet.address)).toBe(90_000_000n);
    expect(extension.calls.filter((method) => method === 'eth_signTypedData_v4')).toHaveLength(2);
    await page.getByRole('cell', { name: 'Top-up' }).waitFor();
    await opened.open('Playground');
    await page.getByLabel('Message').fill('Hello');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Request', exact: true }).waitFor();
    await opened.open('Credit');
    await page.getByRole('cell', { name: 'Charge' }).waitFor();
    expect(opened.faults).toEqual([]);
    await opened.close();
  });

  it('that is a contract signs in by its owner, and by nobody else', async () => {
    const [owner, stranger] = [evmWallet(), evmWallet()];
    const address = await contractOf(chain, owner.address);
    const signedBy = (wallet: EvmWallet) => ({ ...wallet, address });
    const [other, own] = [
      await BrowserWindow.open(browser, platform.rootUrl),
      await BrowserWindow.open(browser, platform.rootUrl),
    ];
    await install(other.page, signedBy(stranger));
    await other.visit();
    await other.page.getByRole('button', { name: /Test wallet/ }).click();
    await other.page.getByRole('alert').getByText('signature').waitFor();
    await install(own.page, signedBy(owner));
    await own.visit();
    await own.page.getByRole('button', { name: /Test wallet/ }).click();
    await own.heading('Overview');
    await own.open('Credit');
    await own.page.getByText(address).first().waitFor();
    expect([...other.faults, ...own.faults]).toEqual([]);
    await Promise.all([other.close(), own.close()]);
  });

  it('signs in and pays by the keyboard alone', async () => {
    const wallet = evmWallet();
    await chain.mint(wallet.address, 20);
    const opened = await BrowserWindow.open(browser, platform.rootUrl);
    const { page } = opened;
    await install(page, wallet);
    await opened.visit();
    await opened.enter(page.getByRole('button', { name: /Test wallet/ }));
    await opened.heading('Overview');
    await opened.enter(page.getByRole('link', { name: 'Credit', exact: true }));
    await opened.heading('Credit');
    await opened.type(page.getByLabel('Amount in US dollars'), '10');
    await opened.enter(page.getByRole('button', { name: 'Continue' }));
    const dialog = page.getByRole('dialog', { name: 'Add credit' });
    await dialog.getByText('$10.00').waitFor();
    await opened.enter(dialog.getByRole('button', { name: /Pay with/ }));
    await page.getByText('$10.00 credited').waitFor();
    await dialog.waitFor({ state: 'detached' });
    expect(await chain.balanceOf(wallet.address)).toBe(10_000_000n);
    expect(opened.faults).toEqual([]);
    await opened.close();
  });

  it.skipIf(fault !== undefined)('does the same on Solana', async () => {
    if (!solana) throw new Error('there is no Solana');
    const wallet = solanaWallet();
    await solana.mint(wallet.address, 12);
    const opened = await BrowserWindow.open(browser, platform.rootUrl);
    const { page } = opened;
    const extension = await installSolana(page, wallet);
    await opened.visit();
    await page.getByRole('button', { name: /Solana wallet/ }).click();
    await opened.heading('Overview');
    await opened.open('Credit');
    await page.getByLabel('Amount in US dollars').fill('10');
    await page.getByRole('button', { name: 'Continue' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add credit' });
    await dialog.getByText(solanaSeller?.address ?? '').waitFor();
    await dialog.getByText('Base', { exact: true }).click();
    await dialog.getByText('No wallet for Base').waitFor();
    await dialog.getByText('Solana', { exact: true }).click();
    expect(await opened.findings()).toEqual([]);
    extension.refuses = true;
    await dialog.getByRole('button', { name: /Pay with/ }).click();
    await dialog.getByText('The wallet refused. Nothing was changed.').waitFor();
    expect(await solana.balanceOf(wallet.address)).toBe(12_000_000n);
    extension.refuses = false;
    const sent: (string | undefined)[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/top-up')) sent.push(request.headers()['payment-signature']);
    });
    solana.reception = 'held';
    await dialog.getByRole('button', { name: /Pay with/ }).dblclick();
    await expect.poll(() => sent.length, { timeout: 20_000 }).toBeGreaterThan(1);
    solana.land();
    await page.getByText('$10.00 credited').waitFor();
    expect(new Set(sent).size).toBe(1);
    expect(await solana.balanceOf(wallet.address)).toBe(2_000_000n);
    expect(extension.calls).toEqual(['signMessage', 'signTransaction', 'signTransaction']);
    await page.getByRole('cell', { name: 'Top-up' }).waitFor();
    await page.getByRole('button', { name: 'Continue' }).click();
    await dialog.getByRole('button', { name: /Pay with/ }).click();
    await dialog.getByText('the payer has too little USDC').waitFor();
    expect(await solana.balanceOf(wallet.address)).toBe(2_000_000n);
    expect((await platform.audit()).body).toMatchObject({ ok: true });
    expect(opened.faults).toEqual([]);
    await opened.close();
  });
});
