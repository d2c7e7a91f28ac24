"""Give Django PyMySQL as the MySQLdb that it imports: mysqlclient has no wheel for Linux."""

import pymysql

pymysql.install_as_MySQLdb()
