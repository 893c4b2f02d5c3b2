/** Pulls an image without showing progress. `insecure`: also by plain HTTP, and without checking certificates. */
export const pullArguments = (reference: string, insecure: boolean): readonly string[] => [
  ...(insecure ? ['--insecure-registry'] : []),
  'pull',
  '--quiet',
  reference,
];

/** Prints what an image says about itself, as one line of JSON. */
export const inspectImageArguments = (reference: string): readonly string[] => [
  'image',
  'inspect',
  '--mode=native',
  '--format={{json .}}',
  reference,
];

/** Loads an archive; nerdctl reads none from the sockets that Node makes for the input of a child. */
export const loadArguments = (archive: string): readonly string[] => [
  'load',
  '--quiet',
  `--input=${archive}`,
];

/** Removes a name of an image, also one that a container was created from. */
export const removeImageArguments = (reference: string): readonly string[] => ['rmi', '--force', reference];

/** Writes an image to an archive, which contains an OCI layout. */
export const saveArguments = (reference: string, archive: string): readonly string[] => [
  'save',
  `--output=${archive}`,
  reference,
];
