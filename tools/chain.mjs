// Local Base and Solana chains, to try payments: `npm run chain`. Prints the settings for `npm start`, and
// wallets with USDC.
import { generateKeyPairSync } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { base58 } from '@scure/base';
import { LocalChain, LocalSolana } from '@svc/infra';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { dataDir } from './data-dir.mjs';

const chain = await LocalChain.start({ port: Number(process.env.CHAIN_PORT ?? 8545), blockSeconds: 1 });
const [signer, buyer, seller] = [1, 2, 3].map(() => generatePrivateKey());
const addressOf = (key) => privateKeyToAccount(key).address;
await chain.fund(addressOf(signer));
await chain.mint(addressOf(buyer), 1_000);
await mkdir(dataDir, { recursive: true });
const keyFile = join(dataDir, 'chain-signer-key');
await writeFile(keyFile, signer, { mode: 0o600 });

/** A Solana key pair, in the format of `solana-keygen`. */
function solanaPair() {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const halves = [
    privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-32),
    publicKey.export({ format: 'der', type: 'spki' }).subarray(-32),
  ];
  return { address: base58.encode(halves[1]), bytes: Buffer.concat(halves) };
}

/** The settings and wallets of the local Solana chain to print, if it runs. */
async function startSolana() {
  const fault = await LocalSolana.fault();
  if (fault !== undefined) return { text: `  No Solana: ${fault}\n` };
  const solana = await LocalSolana.start({ port: Number(process.env.CHAIN_SOLANA_PORT ?? 8899) });
  const [payer, wallet, receiver] = [1, 2, 3].map(() => solanaPair());
  solana.fund(payer.address);
  await solana.mint(wallet.address, 1_000);
  await solana.mint(receiver.address, 0);
  const file = join(dataDir, 'chain-solana-signer-key');
  await writeFile(file, JSON.stringify([...payer.bytes]), { mode: 0o600 });
  const text = `  Solana         ${solana.url} (LiteSVM; transactions are final at once)

  On Solana, instead or as well:

  X402_SOLANA_RPC_URL=${solana.url} \\
  X402_SOLANA_PAY_TO=${receiver.address} \\
  X402_SOLANA_SIGNER_KEY_FILE=${file} npm start

  export SOLANA_WALLET_KEY=${base58.encode(wallet.bytes)}
`;
  return { text, stop: () => solana.stop() };
}

const solana = await startSolana();

console.log(`
  Chain          ${chain.url} (chain id 8453, one block per second; Ctrl-C stops it)

  Start the platform on it:

  X402_EVM_RPC_URL=${chain.url} \\
  X402_EVM_PAY_TO=${addressOf(seller)} \\
  X402_EVM_SIGNER_KEY_FILE=${keyFile} npm start

  A wallet with 1,000 USDC to pay with:

  export WALLET_KEY=${buyer}

${solana.text}`);

for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => {
    solana.stop?.();
    void chain.stop().then(() => process.exit(0));
  });
