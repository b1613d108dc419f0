// Parts of the gateway that benchmarks measure without starting a service, as they were built.
export { readSignIn } from '../dist/wallets/sign-in-header.js';
export { Signatures } from '../dist/wallets/signatures.js';
