/** An event could not be stored. After a timeout it may have been stored nevertheless. */
export class EventNotStored extends Error {
  override readonly name = 'EventNotStored';
}
