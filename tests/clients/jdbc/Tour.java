// What a Java program does with a pond through PostgreSQL's JDBC driver; prints one line for each thing it found.
// Run by test_jdbc.py: java -cp DRIVER Tour.java URL

import java.sql.*;
import java.util.*;

public class Tour {
    private static void show(String title, ResultSet rows, String... columns) throws SQLException {
        while (rows.next()) {
            StringJoiner line = new StringJoiner("|");
            for (String column : columns) line.add(String.valueOf(rows.getString(column)));
            System.out.println(title + ": " + line);
        }
        rows.close();
    }

    private static void metadata(DatabaseMetaData about) throws SQLException {
        System.out.println("product: " + about.getDatabaseProductName() + " " + about.getDatabaseProductVersion());
        System.out.println("user: " + about.getUserName());
        System.out.println("identifier: " + about.getMaxColumnNameLength());
        System.out.println("keyword: " + about.getSQLKeywords().contains("limit"));
        show("catalog", about.getCatalogs(), "TABLE_CAT");
        show("schema", about.getSchemas(), "TABLE_SCHEM");
        show("table type", about.getTableTypes(), "TABLE_TYPE");
        show("table", about.getTables(null, "public", "%", null), "TABLE_SCHEM", "TABLE_NAME", "TABLE_TYPE");
        show("view", about.getTables(null, "public", "u%", new String[] {"VIEW"}), "TABLE_NAME");
        show("system", about.getTables(null, "pg_catalog", "pg\\_class", null), "TABLE_NAME", "TABLE_TYPE");
        show("column", about.getColumns(null, "public", "%", "%"), "TABLE_NAME", "COLUMN_NAME", "DATA_TYPE", "TYPE_NAME",
            "COLUMN_SIZE", "DECIMAL_DIGITS", "IS_NULLABLE", "COLUMN_DEF", "ORDINAL_POSITION", "IS_AUTOINCREMENT");
        show("key", about.getPrimaryKeys(null, "public", "station"), "COLUMN_NAME", "KEY_SEQ", "PK_NAME");
        show("index", about.getIndexInfo(null, "public", "station", false, false),
            "INDEX_NAME", "NON_UNIQUE", "ORDINAL_POSITION", "COLUMN_NAME");
        show("imported", about.getImportedKeys(null, "public", "station"), "FKTABLE_NAME");
        show("exported", about.getExportedKeys(null, "public", "station"), "FKTABLE_NAME");
        show("cross", about.getCrossReference(null, "public", "station", null, "public", "part_usage"), "FKTABLE_NAME");
        show("row identifier", about.getBestRowIdentifier(null, "public", "station", DatabaseMetaData.bestRowSession, false),
            "COLUMN_NAME");
        show("version column", about.getVersionColumns(null, "public", "station"), "COLUMN_NAME");
        show("privilege", about.getTablePrivileges(null, "public", "station"), "GRANTEE", "PRIVILEGE");
        show("column privilege", about.getColumnPrivileges(null, "public", "station", "id"), "GRANTEE", "PRIVILEGE");
        show("function", about.getFunctions(null, "public", "%"), "FUNCTION_NAME");
        show("procedure", about.getProcedures(null, "public", "%"), "PROCEDURE_NAME");
        show("user type", about.getUDTs(null, "public", "%", null), "TYPE_NAME");
        show("client", about.getClientInfoProperties(), "NAME");
        Set<String> types = new TreeSet<>();
        ResultSet rows = about.getTypeInfo();
        while (rows.next()) types.add(rows.getString("TYPE_NAME") + "=" + rows.getInt("DATA_TYPE"));
        System.out.println("types: " + types);
    }

    private static void work(Connection connection) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO part_usage VALUES (?, ?, ?, ?)")) {
            for (int number = 0; number < 10; number++) {
                insert.setInt(1, number);
                insert.setString(2, number % 2 == 0 ? "Wheel" : "Seat");
                insert.setInt(3, 1);
                insert.setTimestamp(4, new Timestamp(0));
                insert.addBatch();
            }
            System.out.println("batch: " + insert.executeBatch().length);
        }
        try (PreparedStatement query = connection.prepareStatement("SELECT part, n FROM used WHERE n > ? ORDER BY part")) {
            for (int run = 0; run < 7; run++) {  // from the fifth on with a named statement and binary values
                query.setLong(1, 1);
                ResultSet rows = query.executeQuery();
                if (run == 6) show("used", rows, "part", "n");
            }
            ResultSetMetaData about = query.getMetaData();
            System.out.println("result: " + about.getColumnName(1) + " " + about.getColumnTypeName(1) + ", "
                + about.getColumnName(2) + " " + about.getColumnTypeName(2) + " " + about.getTableName(1));
        }
        connection.setAutoCommit(false);
        try (Statement cursor = connection.createStatement()) {
            cursor.setFetchSize(3);
            ResultSet rows = cursor.executeQuery("SELECT part_id FROM part_usage ORDER BY part_id");
            int count = 0;
            while (rows.next()) count += rows.getInt(1);
            System.out.println("cursor: " + count);
        }
        connection.rollback();
        connection.setAutoCommit(true);
        try (Statement wrong = connection.createStatement()) {
            wrong.executeQuery("SELECT nothing FROM station");
        } catch (SQLException failure) {
            System.out.println("error: " + failure.getSQLState());
        }
    }

    public static void main(String[] arguments) throws Exception {
        try (Connection connection = DriverManager.getConnection(arguments[0])) {
            System.out.println("schema now: " + connection.getSchema() + " of " + connection.getCatalog());
            metadata(connection.getMetaData());
            if (arguments.length > 1) work(connection);
            System.out.println("valid: " + connection.isValid(5));
        }
    }
}
