// What a thread of the pool runs: one recovery of a signer after the other.
import { answerJobs } from '@svc/threads';
import { evmSigner } from './wallets/evm-signer.js';
import type { SignatureJob } from './wallets/signatures.js';

answerJobs(({ text, signature }: SignatureJob): string | undefined => evmSigner(text, signature));
