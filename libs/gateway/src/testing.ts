// Parts of the gateway that benchmarks measure without starting a service.
export { readSignIn } from './wallets/sign-in-header.js';
export { Signatures } from './wallets/signatures.js';
