/** This try of a creation was abandoned by another one: the command is to be tried again as the next attempt. */
export class CreationOvertaken extends Error {
  override readonly name = 'CreationOvertaken';

  constructor() {
    super('The creation was abandoned meanwhile');
  }
}
