export { WalletHistory } from './wallet-transactions.js';
