export { sumNano } from './charge.js';
export { extraPrice, type SearchPrices, searchPrices } from './extra-prices.js';
export { type PaidOperation, type Performed, type WholeOperation } from './paid-operation.js';
export { type HttpPair, PaidOperations } from './paid-operations.js';
export { isShortOfMoney, isUnserved, Reservation, type PaidCost } from './reservation.js';
export { type Buyer, type ModelSale, sellModel, sellTextModel } from './model-sale.js';
