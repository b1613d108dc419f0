export {
  Character,
  CharacterList,
  CharacterQuery,
  CharacterReply,
  CharacterReviewQuery,
  CharacterReviews,
  CharactersFile,
  CharacterView,
} from './characters.js';
