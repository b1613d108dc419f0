export {
  ConsoleChallenge,
  ConsoleChallengeRequest,
  ConsoleProof,
  ConsoleSession,
  ConsoleSessionEnded,
  ConsoleSessionList,
  ConsoleSessionReply,
  CurrentConsoleSession,
} from './console.js';
