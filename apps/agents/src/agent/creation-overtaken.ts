/** Another try of the same command abandoned this attempt; the command must be tried again as the next attempt. */
export class CreationOvertaken extends Error {
  override readonly name = 'CreationOvertaken';

  constructor() {
    super('The creation was abandoned in the meantime.');
  }
}
