export {
  ACCOUNT_EVENT_TYPES,
  type AccountEvent,
  type AccountEventType,
  OPERATOR,
  OPERATOR_EVENT_TYPES,
  type OperatorEventType,
  accountEvent,
  newAccountEvent,
} from './account-events.js';
export { EVENTS } from './all-events.js';
export { hasFailed, isError, readChoiceEnd } from './choice-ends.js';
export {
  AttestationCall,
  EnclaveReport,
  EnclaveSignature,
  type EncryptionKeys,
  SignatureCall,
} from './enclaves.js';
export { defineEvent, type EventDefinition, EventLog, eventText } from './events.js';
export {
  auditAllPayments,
  auditNewEntries,
  auditNewPayments,
  auditWholeBook,
  notifyOfChanges,
  createMonths,
  defineJob,
  deleteExpired,
  deleteOldFiles,
  type JobDefinition,
  type JobOptions,
  Jobs,
  notifyOfExpiry,
  removeOldEvents,
  setStakedDiem,
} from './jobs.js';
export { type KeyChanged, keyChanged } from './key-events.js';
export {
  LIMIT_LOG_LENGTH,
  LIMIT_LOG_TYPES,
  LIMIT_TYPES,
  LimitLog,
  type LimitLogType,
  limitReached,
  LimitReached,
} from './limit-log.js';
export {
  type Charge,
  chargeLine,
  type ChargeLine,
  decodeCharge,
  emptyCharge,
  encodeCharge,
  givenBack,
  MEDIA_JOBS_BACKEND,
  NO_USAGE,
  type Price,
  type RecordedCharge,
  type Usage,
  UsageRecorded,
  usageRecorded,
} from './usage.js';
