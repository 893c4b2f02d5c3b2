import { expect, it } from 'vitest';
import { END_USERS_PAGE, environmentOfPage, STEPS } from './end-user-page.fixture.js';
import { commandsOfPage } from './page-commands.fixture.js';

it('docs/end-users.md has no command that its test does not run', () => {
  expect([...commandsOfPage(END_USERS_PAGE).keys()]).toEqual(STEPS);
  expect(environmentOfPage()).toEqual({ BERTH_ALLOWED_ORIGINS: 'http://localhost:3000' });
});
