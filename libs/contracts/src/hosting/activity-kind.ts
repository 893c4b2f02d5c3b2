/** What an agent was used for; `computer`: a computer, for anything. */
export type ActivityKind =
  | 'computer'
  | 'chat'
  | 'file'
  | 'exec'
  | 'console'
  | 'app'
  | 'llm'
  | 'webhook'
  | 'schedule'
  | 'start';
