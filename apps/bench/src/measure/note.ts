/** Why something was not measured, and how to enable it. */
export interface Note {
  readonly kind: 'note';
  readonly title: string;
  readonly text: string;
}
