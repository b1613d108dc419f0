// What benches measure of the gateway without a service around it.
export { readSignIn } from './wallets/sign-in-header.js';
export { Signatures } from './wallets/signatures.js';
