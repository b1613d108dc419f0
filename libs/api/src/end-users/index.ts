export {
  EndUserLimits,
  type EndUserLimitsReply,
  EndUserName,
  EndUserParams,
  type ForgottenUser,
} from './end-users.js';
