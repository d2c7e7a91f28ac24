-- The grant tables are not read yet.
FLUSH PRIVILEGES;
CREATE DATABASE kiwi CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;
CREATE USER kiwi IDENTIFIED BY 'kiwi';
GRANT ALL ON kiwi.* TO kiwi;
