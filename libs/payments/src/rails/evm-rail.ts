import { durationMs, whole } from '@svc/runtime';
import { z } from 'zod';
import type { EvmChain } from '../chains/evm-chain.js';
import type { EvmTerms } from '../chains/evm-terms.js';
import { Facilitator } from '../facilitator/facilitator.js';
import { type Authorization, readAuthorization } from '../header/payment-header.js';
import type { Rail, Submission } from '../settlement/rail.js';
import { FacilitatorSubmission, OwnSubmission } from '../settlement/submissions.js';
import { type Opening, type RailKind, commonSettings } from './rail-kind.js';

const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'must be an address: 0x and 40 hexadecimal digits');

/** A chain with EIP-3009 on its USDC. */
export interface EvmRailTerms extends EvmTerms {
  /** The EIP-712 domain that payments are signed with. Source: the contract of its USDC. */
  readonly extra: { readonly name: string; readonly version: string };
  /** Set for the one chain whose contract wallets can sign in. */
  readonly hasContractWallets?: true;
}

const settingsOf = ({ title }: EvmTerms) => ({
  ...commonSettings({
    rpcUrl: `The JSON-RPC URL of a ${title} node, which is trusted to report payments correctly; if unset, payments on ${title} are not offered`,
    payTo: `The address on ${title} that receives payments`,
    address,
    keyFile:
      'A file with the private key, in hexadecimal, of the account that submits payments and pays their gas',
    key: 'The private key itself, if there is no file; a file is safer',
  }),
  CONFIRMATIONS: whole(1, 1_000)
    .default(2)
    .describe('The number of confirmations before a payment is credited, counting its own block'),
  MAX_FEE_GWEI: whole(1, 100_000).default(20).describe('Payments wait while gas costs more than this'),
  REPLACE_MS: durationMs
    .default(30_000)
    .describe(
      'How long a transaction of the signer may be unconfirmed before it is replaced by one with a higher fee',
    ),
});

export interface EvmSettings extends z.infer<z.ZodObject<ReturnType<typeof settingsOf>>> {
  readonly RPC_URL: string;
  readonly PAY_TO: string;
}

const networkOf = ({ chainId }: EvmTerms): string => `eip155:${chainId}`;

/** USDC on an EVM chain. */
export const evmRail = (terms: EvmRailTerms): RailKind<EvmSettings> => ({
  name: terms.name,
  network: networkOf(terms),
  prefix: terms.prefix,
  settings: settingsOf(terms),
  open: async (opening) => {
    const { settings } = opening;
    // Loaded here, so that processes without payments do not load the client of the chain.
    const { EvmChain } = await import('../chains/evm-chain.js');
    const chain = new EvmChain({
      terms,
      rpcUrl: settings.RPC_URL,
      confirmations: settings.CONFIRMATIONS,
      maxFeeGwei: settings.MAX_FEE_GWEI,
    });
    const submission = await submissionOf(terms, chain, opening);
    return openEvmRail(terms, { payTo: settings.PAY_TO, chain, submission });
  },
});

interface EvmRailParts {
  readonly payTo: string;
  readonly chain: EvmChain;
  readonly submission: Submission;
}

/** The rail of a chain that is open. */
export function openEvmRail(terms: EvmRailTerms, { payTo, chain, submission }: EvmRailParts): Rail {
  const { name, asset, extra } = terms;
  const network = networkOf(terms);
  return {
    name,
    network,
    payTo,
    chain,
    submission,
    offer: () => Promise.resolve({ name, network, asset, payTo, extra }),
    read: (content): Promise<Authorization> =>
      new Promise((resolve) => {
        resolve(readAuthorization(content, { network, asset, payTo }));
      }),
    ...(terms.hasContractWallets && { hasSigned: (signed) => chain.hasSigned(signed) }),
  };
}

/** A facilitator that submits payments on this chain. */
export const evmFacilitator = (url: string, terms: EvmRailTerms): Facilitator =>
  new Facilitator(url, {
    name: terms.name,
    network: networkOf(terms),
    messageOf: ({ from, to, value, validAfter, validBefore, nonce, signature }) => {
      const authorization = {
        from,
        to,
        value: String(value),
        validAfter: String(validAfter),
        validBefore: String(validBefore),
        nonce,
      };
      return Promise.resolve({ extra: terms.extra, payload: { signature, authorization } });
    },
  });

async function submissionOf(
  terms: EvmRailTerms,
  chain: EvmChain,
  { settings, store, facilitatorUrl, withKey }: Opening<EvmSettings>,
): Promise<Submission> {
  if (facilitatorUrl !== undefined)
    return new FacilitatorSubmission(evmFacilitator(facilitatorUrl, terms), store);
  const { signerOf } = await import('../chains/signers.js');
  const own = { signer: withKey(signerOf), stuckMs: settings.REPLACE_MS };
  return new OwnSubmission(chain, store, own);
}
