export { type Identity, type StoredSession, SESSION_MS, SessionStore } from './session.store.js';
export { NO_SESSION_COOKIE, sessionCookie, tokenOf } from './session-cookie.js';
export { type Proof, Proofs, ticketOfAccount, ticketOfWallet } from './proofs.js';
export { TicketStore } from './ticket.store.js';
