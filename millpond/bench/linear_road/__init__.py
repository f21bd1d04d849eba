"""Linear Road: tolls on expressways by how busy and how slow each mile is, told to each car as it drives on."""
