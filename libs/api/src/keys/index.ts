export { AccountLimits } from './account-limits.js';
export {
  ApiKeyChange,
  ApiKeyList,
  ApiKeyQuery,
  ApiKeyReply,
  ApiKeyRotation,
  ApiKeyView,
  ChangedApiKeyReply,
  NewApiKey,
  NewApiKeyReply,
  PlainApiKeyView,
  RevokedApiKeyReply,
  WalletApiKey,
  WalletKeyToken,
} from './api-keys.js';
