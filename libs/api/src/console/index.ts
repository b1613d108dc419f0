export {
  ConsoleChallenge,
  ConsoleChallengeRequest,
  ConsoleProof,
  ConsoleSession,
  ConsoleSessionEnded,
  ConsoleSessionList,
  ConsoleSessionReply,
} from './console.js';
