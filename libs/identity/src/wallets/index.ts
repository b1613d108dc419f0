export { consoleMessage, signingWallet } from './console-message.js';
export { PublicOrigin } from './public-origin.js';
export { Signatures } from './signatures.js';
export { PaymentDemands, SUGGESTED_USD } from './payment-demands.js';
