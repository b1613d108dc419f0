export { namedEndUser } from './end-user-id.js';
export { EACH_USER, EndUserLimitsStore } from './end-user-limits.store.js';
export { EndUsers } from './end-users.js';
